/** Words for questions about the documents as a whole, by their roots, without accents. */

/** Words for the documents themselves. */
export const collectionWords = `document documents doc docs file files upload uploads collection library text texts material materials article articles
  dokument dokumente dokumenten datei dateien unterlagen texte texten sammlung bibliothek
  documento documentos archivo archivos fichero ficheros texto textos biblioteca
  fichier fichiers textes bibliotheque
  documenti testo testi
  arquivo arquivos ficheiro ficheiros
  documenten bestand bestanden tekst teksten
  документ документы документа документов документах файл файлы файлов файлах текст тексты текста
  مستند مستندات مستنداتي وثيقه وثائق وثائقي ملف ملفات ملفاتي نص نصوص
  tai lieu tep van ban`

/** Words for the existence and the contents of documents. */
export const havingWords = `have list show available stored uploaded saved contain contains content contents
  habe hast haben liste zeig zeige auflisten vorhanden gespeichert hochgeladen enthalten enthalt inhalt inhalte steht
  tengo hay lista listar muestra guardado guardados subido subidos contiene contienen contenido
  avons montre contient contiennent contenu
  ho abbiamo elenca mostra contiene contengono contenuto
  tenho mostre contem conteudo
  heb hebben lijst toon bevat bevatten inhoud
  есть список покажи содержит содержат содержание содержится загружены загружено
  لدي عندي يوجد قائمه اعرض تحتوي يحتوي محتوى محتويات
  co danh sach liet ke noi dung`

export const summaryWords = `summarise summarize summary summaries overview gist tldr
  zusammenfassen zusammenfassung fasse fass uberblick ubersicht
  resumir resume resumeme resumen
  resumer resumez
  riassumi riassumere riassunto
  resuma resumo
  samenvatten samenvatting
  обобщи обобщение резюме резюмируй суммируй сводка изложи кратко
  لخص ملخص تلخيص
  tom tat`

/** Words for the date of a document, which the list shows. */
export const timeWords = `new newer newest latest recent recently last lately oldest first today yesterday week month date dates added when
  neu neue neuen neueste neuesten neuestes letzte letzten letztes alteste altesten heute gestern woche monat datum wann hinzugefugt
  nuevo nuevos reciente recientes ultimo ultimos antiguo hoy ayer semana mes fecha subi subido
  nouveau nouveaux recent recents dernier derniers ancien aujourd hui hier semaine mois date ajoute ajoutes
  nuovo nuovi recente recenti ultimo ultimi vecchio oggi ieri settimana mese data caricato caricati
  novo novos recente recentes ultimo ultimos antigo hoje ontem semana mes data enviei
  nieuw nieuwe nieuwste laatste recente oudste vandaag gisteren week maand datum geupload
  новыи новый новые новеишии новейший последнии последний последние старыи старый сегодня вчера неделя неделю месяц дата загрузил загрузила
  احدث اخر جديد اليوم امس اسبوع شهر تاريخ
  moi nhat hom nay qua tuan thang ngay`

/** Words that do not change the question. */
export const politeWords = `please give make write tell short brief briefly quick main key important points everything whole entire
  bitte gib mach schreib kurz kurze wichtigsten punkte zusammen ganze ganzen meine meinen meiner meines meinem unsere unseren
  favor dame haz breve puntos principales
  plait donne fais bref breve points principaux
  favore dammi breve punti principali
  alstublieft geef korte
  пожалуиста пожалуйста дай сделаи сделай краткое краткии краткий мне главное
  فضلك رجاء موجز
  hay toi xin vui long ngan gon`

/** Question words for things; next to one of them, "have" or "documents" is enough. */
export const thingWords =
  'what which was welche que cuales quoi quels quelles che cosa quali quais wat welke что какие ما ماذا gi'

/** Phrases of scripts without spaces, removed one after another, longest first. */
export const phrases = {
  collection:
    '文档 文件 资料 文本 文章 檔案 文檔 資料 内容 內容 書類 文書 ファイル ドキュメント เอกสาร ไฟล์ ข้อความ'.split(
      ' ',
    ),
  having:
    '列出 列表 拥有 擁有 保存 上传 上傳 里面 有 ある あります 一覧 リスト มี รายการ แสดง เนื้อหา ใน'.split(
      ' ',
    ),
  thing: '什么 什麼 哪些 何 どんな どの อะไร'.split(' '),
  summary: '总结 總結 概括 摘要 概述 概要 归纳 要約 まとめ สรุป ภาพรวม'.split(' '),
  time: '最新 最近 今天 昨天 刚 上周 最後 最后 最新の 今日 昨日 最近 ล่าสุด วันนี้ เมื่อวาน'.split(' '),
  polite:
    '请 請 帮我 幫我 一下 给我 給我 全部 所有 我 你 下さい ください して て を の は が ช่วย หน่อย ให้ ทั้งหมด ของ ฉัน ผม บ้าง นี้'.split(
      ' ',
    ),
}
