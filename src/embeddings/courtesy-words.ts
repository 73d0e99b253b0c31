// Courtesy words around a question in the most common languages, without accents, as terms.ts folds
// them. Sentences and clauses with no other words are dropped from a message.

/** Greetings, thanks, and requests to answer. */
const courtesyWords = `please kindly kind thanks thank thx cheers hello hi hey dear greetings regards sincerely appreciate appreciated
  answer answers reply respond response cite quote mention
  bitte danke dank dankeschon hallo liebe lieber gruß grusse gruße
  antwort antworte antworten beantworte beantworten nenne nennen
  favor gracias hola saludos responde responda responder respuesta contesta conteste dime digame menciona mencione
  svp plait merci bonjour bonsoir salut cordialement reponds repondez repondre reponse dites cite citez mentionne mentionnez
  grazie ciao buongiorno buonasera saluti rispondi risponda risposta dimmi
  obrigado obrigada ola agradeco resposta diga
  bedankt dankje goedemorgen goedendag groeten alvast alstublieft beantwoord antwoord noem
  пожалуиста пожалуйста спасибо здравствуите здравствуйте привет благодарю ответь ответьте ответ назови назовите скажи скажите
  dziekuje prosze czesc pozdrawiam odpowiedz
  tesekkurler lutfen merhaba selam gunaydin cevapla
  شكرا مرحبا السلام رجاء فضلك الرجاء يرجى اجب
  cam xin chao vui tra`

/** Words of instructions for the form of an answer, and words around a greeting. */
const formWords = `best wishes good morning afternoon evening day advance help helping lot lots sorry excuse wonder wondering mind wish hope know
  want like need needs let able explain give giving provide say state write keep use make sure include including add then citing name
  reference references source sources page pages format brief briefly short shortly concise concisely precise precisely exact exactly
  detail details detailed clear clearly simple simply sentence sentences paragraph paragraphs word words line lines bullet bullets point
  points list table json yaml xml csv markdown one two three four five number numbers english german french spanish italian
  vielen guten tag morgen abend freundlichen voraus hilfe helfen gib geben sag sagen schreib schreibe erklare kurz knapp genau prazise
  satz satze satzen quelle quellen seite seiten angabe angaben stichpunkt stichpunkte stichpunkten tabelle liste zahl zahlen ein zwei drei
  deutsch englisch
  por buenos dias buenas tardes noches antemano ayuda ayudar indica indique cita breve brevemente corto frase frases parrafo lista tabla
  fuente fuentes pagina paginas dos tres espanol
  avance aide aider donne donnez bref brievement court phrase phrases paragraphe liste tableau deux trois francais
  anticipo favore piacere aiuto fonte fonti elenco tabella due
  bom dia boa tarde noite antecipadamente fonte fontes tabela duas
  bron bronnen kort zinnen lijst twee
  добрыи добрый день вечер утро заранее укажи укажите кратко коротко подробно предложение предложения предложениях источник
  источники страница страницу список таблица двух два помощь
  dzien dobry krotko zdaniach zrodlo strona tabela
  cevap kisa kaynak sayfa
  عليكم اجابه باختصار جمله جملتين المصدر المصادر صفحه
  on long loi ngan gon cau nguon trang`

/** Words that refer to the documents to search: "according to the files that I uploaded". */
const documentWords = `based according file files document documents library collection upload uploads uploaded
  laut gemaß gemass dokument dokumente dokumenten datei dateien unterlagen sammlung hochgeladen meine meinem meinen meiner unseren unserer
  segun documento documentos archivo archivos biblioteca subido
  selon fichier fichiers bibliotheque
  secondo documenti file caricato segundo arquivo arquivos
  volgens documenten bestanden согласно судя моим моих моеи нашим документы документам документах фаилам файлам`

export const courtesies: ReadonlySet<string> = new Set(courtesyWords.split(/\s+/))
export const forms: ReadonlySet<string> = new Set(formWords.split(/\s+/))
export const documentReferences: ReadonlySet<string> = new Set(documentWords.split(/\s+/))

/** The same words in scripts without spaces. */
export const courtesyPhrases =
  /감사합니다|고맙습니다|안녕하세요|안녕하십니까|부탁드립니다|부탁드려요|알려\s?주세요|답해\s?주세요|非常感谢|非常感謝|多谢|多謝|谢谢|謝謝|感谢|感謝|你好|您好|大家好|早上好|晚上好|麻烦|麻煩|请问|請問|请|請|回答|答案|ありがとうございます|ありがとうございました|ありがとう|こんにちは|こんばんは|おはようございます|よろしくお願いします|お願いします|教えてください|ください|答えて|回答して|สวัสดี|ขอบคุณ|กรุณา|โปรด|ช่วย|ครับ|ค่ะ|คะ|ตอบ/g
export const formPhrases =
  /미리|짧게|간단히|한\s?문장으로|두\s?문장으로|출처를?|페이지를?|用?[一二两三兩]句[话話]?|[简簡]要|[简簡]短|[简簡]洁|注明|註明|列出|提供|[给給]出|来源|來源|出處|出处|[页頁][码碼]|[帮幫]我|一下|簡潔|短く|出典|ページ|สั้น|แหล่งที่มา|หน้า|ประโยค|มาก|ๆ/g
export const documentPhrases = /根据|根據|我上传的|我上傳的|文档|文檔|文件|资料|資料/g
