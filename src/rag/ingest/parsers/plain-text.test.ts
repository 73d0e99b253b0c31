import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePlainText } from './plain-text.ts'

const russian =
  'Королевский маяк стоит на высоком мысу с 1882 года. Его построила инженер Амелия Дюрок, и первое время лампа горела на китовом жире.'
const japanese =
  '灯台は1882年に岬の上に建てられました。最初の灯りは鯨油で燃えていましたが、後に電灯になりました。今でも毎晩、船のために海を照らしています。'
const simplified =
  '这座灯塔建于一八八二年，位于海角的高处。起初灯里烧的是鲸油，后来改用电灯。每天晚上，它仍然为过往的船只照亮大海。'
const traditional =
  '這座燈塔建於一八八二年，位於海角的高處。起初燈裡燒的是鯨油，後來改用電燈。每天晚上，它仍然為過往的船隻照亮大海。'
const korean =
  '이 등대는 1882년에 곶의 높은 곳에 세워졌습니다. 처음에는 고래기름으로 불을 밝혔지만 나중에 전등으로 바뀌었습니다. 지금도 매일 밤 배들을 위해 바다를 비춥니다.'
const polish =
  'Latarnia morska stoi na wysokim przylądku od 1882 roku. Zbudowała ją inżynier Amelia Duroc, a jej światło początkowo świeciło olejem. Każdej nocy wciąż wskazuje drogę łodziom, które płyną wzdłuż wybrzeża.'
const greek =
  'Ο φάρος βρίσκεται ψηλά στο ακρωτήρι από το 1882. Τον έχτισε η μηχανικός Αμέλια Ντυρόκ και στην αρχή το φως του έκαιγε λάδι φάλαινας. Κάθε νύχτα φωτίζει ακόμη τη θάλασσα για τα πλοία.'
const arabic =
  'تقف المنارة على الرأس العالي منذ عام 1882. بنتها المهندسة أميليا دوروك، وكان مصباحها في البداية يحرق زيت الحوت. وما زالت تضيء البحر للسفن كل ليلة.'
const french =
  'Le phare se dresse sur le cap élevé depuis 1882. L’ingénieure Amélie Duroc l’a bâti, et sa lampe brûlait d’abord de l’huile de baleine. À la tombée de la nuit, il éclaire encore la mer là où passent les bateaux.'
const german =
  'Der Leuchtturm steht seit 1882 auf dem hohen Kap. Erbaut hat ihn die Ingenieurin Amélie Duroc; anfangs brannte die Lampe mit Öl. Für die Schiffe, die an der Küste vorüberfahren, leuchtet er noch jede Nacht – „größer als jeder andere“.'

/**
 * Each text also as its first words and its first two dozen characters, where statistics are weak.
 */
const cases: [string, string[]][] = [
  ['windows-1251', [russian]],
  ['koi8-r', [russian]],
  ['shift_jis', [japanese]],
  ['euc-jp', [japanese]],
  ['gb18030', [simplified]],
  ['big5', [traditional]],
  ['euc-kr', [korean]],
  ['iso-8859-2', [polish]],
  ['windows-1250', [polish]],
  ['windows-1253', [greek]],
  ['windows-1256', [arabic]],
  ['windows-1252', [french, german]],
  ['utf-16le', [russian, japanese, simplified, korean, greek, arabic, french]],
  ['utf-16be', [russian, japanese, simplified, korean, greek, arabic, french]],
  ['utf-8', [russian, japanese, simplified, traditional, korean, polish, greek, arabic, french]],
]

for (const [label, texts] of cases) {
  test(`reads text in ${label} correctly, or refuses it when it is too short to be sure`, async () => {
    for (const whole of texts) {
      const long = Array.from({ length: 40 }, () => whole).join('\n')
      for (const text of [long, whole])
        assert.equal(await parsePlainText(encoded(text, label)), text)
      for (const text of [
        whole.slice(0, 25),
        whole.slice(30, 42),
        whole.split(/[ 、，]/)[0] ?? '',
      ]) {
        const read = await parsePlainText(encoded(text, label)).catch(asked)
        assert.ok(read === undefined || read === text, `${text} as ${read}`)
      }
    }
  })
}

test('reads an English text with a few Windows characters correctly', async () => {
  for (const text of [
    'It’s 20 € a day – “take it or leave it”…',
    'The café is open; à la carte only.',
    'The café is 5 °C warm.',
  ]) {
    assert.equal(await parsePlainText(encoded(text, 'windows-1252')), text)
  }
})

test('never mistakes text in Mac or DOS encodings for another encoding', async () => {
  for (const text of [french, german, 'Mañana será otro día, según decía María.']) {
    const read = await parsePlainText(encoded(text, 'macintosh')).catch(asked)
    assert.ok(read === undefined || read === text, String(read))
  }
  // "Größe, Übung, café, über, schön": code page 850 has these letters elsewhere.
  const dos = 'Gr\x94\xe1e, \x9abung, caf\x82, \x81ber, sch\x94n'
  assert.equal(await parsePlainText(Buffer.from(dos, 'latin1')).catch(asked), undefined)
})

test('refuses UTF-8 with a damaged byte, with or without a mark, and a cut UTF-16', async () => {
  const bytes = Buffer.from(`${french}\n${russian}`)
  for (const at of [14, bytes.length - 1, bytes.indexOf(Buffer.from('К'))]) {
    const broken = new Uint8Array(bytes)
    broken[at] = 0xff
    await assert.rejects(parsePlainText(broken), /UTF-8, but some of its bytes are damaged/)
    await assert.rejects(parsePlainText(Buffer.concat([Buffer.from('\ufeff'), broken])), /damaged/)
  }
  const wide = Buffer.from(`\ufeff${russian}`, 'utf16le')
  await assert.rejects(parsePlainText(wide.subarray(0, wide.length - 1)), /UTF-16LE, but/)
})

test('reads Japanese in seven bits, and keeps terminal colours', async () => {
  assert.equal(await parsePlainText(Buffer.from('\x1b$B%F%9%H\x1b(B ok', 'latin1')), 'テスト ok')
  assert.equal(await parsePlainText(Buffer.from('\x1b[31mred\x1b[0m')), '\x1b[31mred\x1b[0m')
})

test('refuses UTF-32 and binary bytes', async () => {
  await assert.rejects(parsePlainText(new Uint8Array([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])), /UTF-8/)
  await assert.rejects(parsePlainText(new Uint8Array([1, 2, 0, 4, 200])), /binary/)
  const noise = Uint8Array.from({ length: 4_000 }, (_, i) => Math.imul(i + 7, 0x9e3779b1) >>> 21)
  await assert.rejects(parsePlainText(noise), { name: 'Unreadable' })
})

test('judges a long text by its lines beyond ASCII, at any position', async () => {
  const log = Array.from({ length: 6_000 }, (_, i) => `${i} INFO all is quiet on the shore`).join(
    '\n',
  )
  const text = `${log}\n${russian}\n`
  assert.equal(await parsePlainText(encoded(text, 'windows-1251')), text)
})

/** Returns undefined when the reason asks for UTF-8, as a refusal must. */
function asked(error: Error): undefined {
  assert.equal(error.name, 'Unreadable')
  assert.match(error.message, /UTF-8|binary/)
}

const tables = new Map<string, Map<string, number[]>>()

/** Built from the decoder: maps each character to its sequence of one or two bytes. */
function encoded(text: string, label: string): Uint8Array {
  if (label === 'utf-8') return Buffer.from(text)
  if (label === 'utf-16le') return Buffer.from(text, 'utf16le')
  if (label === 'utf-16be') return Buffer.from(text, 'utf16le').swap16()
  const table = tables.get(label) ?? tableOf(label)
  tables.set(label, table)
  return Uint8Array.from(
    [...text].flatMap((letter) => table.get(letter) ?? assert.fail(`${letter} in ${label}`)),
  )
}

function tableOf(label: string): Map<string, number[]> {
  const table = new Map<string, number[]>()
  const learn = (...bytes: number[]) => {
    const [letter, more] = new TextDecoder(label).decode(Uint8Array.from(bytes))
    if (letter !== undefined && more === undefined && letter !== '\ufffd' && !table.has(letter))
      table.set(letter, bytes)
  }
  for (let byte = 0; byte < 256; byte++) learn(byte)
  for (let lead = 0x81; lead < 0xff; lead++)
    for (let trail = 0x40; trail < 0xff; trail++) learn(lead, trail)
  return table
}
