/** Questions and the texts that answer them, each pair about another subject, for calibrations. */
import type { Pair } from './calibration.ts'

const PAIRS = `
How long is parental leave?
  Employees with a new child may stay at home for sixteen weeks with full pay.
When does the warranty end?
  We repair defects free of charge until two years after the day of purchase.
Which bus goes to the airport?
  Line 41 leaves from the main station every twenty minutes and ends at Terminal 2.
Can I bring my dog?
  Pets are welcome in all our rooms for an extra eight euros a night.
What do I do if the pump overheats?
  Above 90 degrees the motor must be switched off and left to cool for half an hour.
Who signs contracts above 10,000 euros?
  Agreements of that size need the names of two members of the board.
How is the sourdough starter fed?
  Every morning half of it is thrown away, and flour and water of equal weight are stirred in.
Why did sales fall in spring?
  Turnover in the second quarter was lower because two shops were closed for repairs.
Does the medicine make one tired?
  Drowsiness was reported by one patient in ten during the first week.
How many people live on the island?
  At the last census the population was 312, most of them fishermen.
How do I reset my password?
  Choose "Forgotten?" under the sign-in form, and follow the link that is sent by email.
What is the penalty for paying late?
  After the due date interest of five percent a year is added to the invoice.
Wie kündige ich meinen Vertrag?
  Der Vertrag kann schriftlich mit einer Frist von drei Monaten zum Jahresende beendet werden.
Welche Größe hat die Wohnung?
  Auf 74 Quadratmetern liegen drei Zimmer, eine Küche und ein Bad.
¿A qué hora abre el museo?
  Las salas se pueden visitar de martes a domingo, desde las diez de la mañana.
¿Quién ganó la carrera?
  La ciclista colombiana cruzó la meta con dos minutos de ventaja.
Où se trouve la pharmacie ?
  Pour acheter des médicaments, prenez la première rue à gauche derrière la mairie.
Сколько стоит билет?
  Взрослые платят за вход четыреста рублей, дети проходят бесплатно.
متى بني الجسر؟
  اكتمل العمل في المعبر فوق النهر عام 1932 بعد ست سنوات.
这种鸟吃什么？
  它们以小鱼和虾为食，冬天也会啄食海藻。
荷物はどこに預けられますか
  駅の改札口の横にコインロッカーがあります。
कक्षा कितने बजे शुरू होती है?
  पढ़ाई सुबह आठ बजे आरंभ होकर दोपहर एक बजे समाप्त होती है।
ต้องรดน้ำต้นไม้บ่อยแค่ไหน
  ให้น้ำสัปดาห์ละสองครั้ง และงดในฤดูฝน
Thư viện cho mượn sách bao lâu?
  Bạn đọc được giữ mỗi cuốn trong ba tuần và gia hạn một lần.
`

export const pairs: Pair[] = PAIRS.matchAll(/^(\S.*)\n {2}(.*)$/gm)
  .map(([, question = '', text = '']) => ({ question, text }))
  .toArray()
