// Sentences that users write around a question. They are unrelated to the searched texts.

type Phrase = (question: string) => string
const plain: Phrase = (question) => question
const lowerFirst = (question: string) => `${question.charAt(0).toLowerCase()}${question.slice(1)}`

/** Keyed by language, then by the kind of surrounding text. */
export const frames: Record<string, Record<string, Phrase>> = {
  en: {
    plain,
    polite: (q) => `Hello! I hope you are well. ${q} Thank you very much in advance.`,
    inline: (q) => `Good morning, would you be so kind as to tell me: ${q}`,
    background: (q) =>
      `We are putting together the agenda for Thursday's meeting and my colleague wants to be certain. ${q}`,
    'files, form': (q) =>
      `According to the files in my library, ${lowerFirst(q)} Keep it to one paragraph and mention the page.`,
    long: (q) =>
      `I have been asked to brief our new director next week, and she likes to hear things in order. ${q} Answer in two sentences, then add a list of the numbers that matter, and say which document you took them from.`,
    JSON: (q) => `${q} Answer as JSON with the keys "answer" and "page".`,
    'one sentence': (q) => `My boss is waiting for this, so ${lowerFirst(q)}`,
    'question first': (q) =>
      `${q} I looked through everything twice yesterday evening and could not see it anywhere, which surprised my neighbour.`,
    'asked twice': (q) =>
      `Can you help me with something? ${q} My printer is out of order, so I cannot read it on paper.`,
  },
  de: {
    plain,
    polite: (q) => `Guten Tag! Können Sie mir bitte helfen? ${q} Vielen Dank im Voraus.`,
    background: (q) =>
      `Ich bereite die Sitzung am Donnerstag vor und meine Kollegin will es genau wissen. ${q}`,
    'files, form': (q) =>
      `Laut den Unterlagen in meiner Sammlung: ${q} Antworte in zwei Sätzen und nenne die Quelle.`,
  },
  es: {
    plain,
    polite: (q) => `¡Hola! ¿Me podría ayudar con una duda? ${q} Muchas gracias de antemano.`,
    background: (q) =>
      `Mi hermana prepara una exposición para el jueves y quiere estar segura. ${q}`,
    'files, form': (q) => `${q} Responda en dos frases y cite la fuente, por favor.`,
  },
  zh: {
    plain,
    polite: (q) => `你好！请问，${q}谢谢！`,
    background: (q) => `我们正在准备星期四的会议，同事想确认一件事。${q}`,
    'files, form': (q) => `根据我上传的文件，${q}请用两句话回答，并注明来源。`,
  },
  ru: {
    plain,
    polite: (q) => `Здравствуйте! ${q} Заранее спасибо за помощь.`,
    background: (q) =>
      `Мы готовим повестку собрания на четверг, и коллега хочет всё проверить. ${q}`,
    'files, form': (q) =>
      `Судя по моим документам, ${lowerFirst(q)} Ответь в двух предложениях и укажи источник.`,
  },
  ar: {
    plain,
    polite: (q) => `مرحبا! ${q} شكرا جزيلا.`,
    background: (q) => `نحن نحضر جدول أعمال اجتماع يوم الخميس وزميلتي تريد أن تتأكد. ${q}`,
    form: (q) => `${q} أجب باختصار مع ذكر المصدر.`,
  },
  th: {
    plain,
    polite: (q) => `สวัสดีครับ ${q} ขอบคุณมากครับ`,
    background: (q) => `เรากำลังเตรียมวาระการประชุมวันพฤหัสบดี และเพื่อนร่วมงานอยากแน่ใจ\n${q}`,
  },
  vi: {
    plain,
    polite: (q) => `Xin chào! ${q} Cảm ơn rất nhiều.`,
    background: (q) =>
      `Chúng tôi đang chuẩn bị chương trình họp thứ Năm và đồng nghiệp của tôi muốn chắc chắn. ${q}`,
    form: (q) => `${q} Trả lời ngắn gọn và nêu nguồn.`,
  },
}
