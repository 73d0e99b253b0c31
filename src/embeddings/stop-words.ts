/** Words without a subject in the most common languages, without diacritics, as terms.ts folds. */
import { wordSet } from '#platform/words.ts'

export const byLanguage = {
  en: `a about above after again all also am an and any are as at be because been before being below between both but by can could did do
    does doing down during each few for from further had has have having he her here hers him his how i if in into is it its itself just
    may me might more most my no nor not now of off on once only or other our out over own per same she should so some such than that the their
    them then there these they this those through to too under until up upon us very was we were what when where which while who whom whose why
    will with would you your s t d ll re ve m don doesn didn isn wasn aren won many much name tell called`,
  de: `ab aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da damit dann das dass dem den denn
    der des dessen deren die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas fur gegen
    gewesen hat hatte hatten haben hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt
    kann kein keine keinen konnen konnte machen man mehr mein mit muss nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen
    seiner sich sie sind so soll sollte sondern uber um und uns unser unter vom von vor war waren warum was weil welche welchem welchen welcher
    welches wenn wer werden wie wieder will wir wird wo wurde wurden zu zum zur zwischen viel viele wieviel wann womit wofur wessen wem wen heißt`,
  es: `a al algo algunas algunos ante antes como con contra cual cuales cuando cuanto cuanta cuantos cuantas de del desde donde durante e el ella
    ellas ellos en entre era eran eres es esa esas ese eso esos esta estaba estan estar estas este esto estos fue fueron ha habia han hasta hay la
    las le les lo los mas me mi mientras muy nada ni no nos o otra otras otro otros para pero poco por porque que quien quienes se sea segun ser si
    sido sin sobre son su sus tambien tan tanto te tiene tienen toda todas todo todos tu un una unas uno unos y ya yo`,
  fr: `a au aux avec c ce ces cet cette comme comment d dans de des donc du elle elles en entre est et etaient etait etc ete etre eu fut ici il ils
    j je l la le les leur leurs lors lorsque lui m ma mais me meme mes mon n ne nos notre nous on ont ou par pas pendant plus pour pourquoi qu quand
    que quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sous sur t ta te tes ton tous tout toute toutes tu un une vos votre
    vous y combien`,
  it: `a ad ai al alla alle allo anche c che chi ci come con cosa cui da dal dalla dalle dei del della delle dello di dove e ed era erano fu gli ha
    hanno i il in io l la le lei lo loro lui ma mi nei nel nella nelle nello no noi non o per perche piu quale quali quando quanto quanti questa
    queste questi questo quello se sia si sono sta su sua sue sugli sui sul sulla suo suoi tra tu tutti tutto un una uno`,
  pt: `a ao aos as ate com como da das de dela dele do dos e ela elas ele eles em entre era eram essa esse esta este eu foi foram ha isso isto ja la
    lhe mais mas me mesmo meu minha muito na nao nas nem no nos o onde os ou para pela pelas pelo pelos por porque qual quais quando quanto quantos
    que quem se sem ser seu seus sao so sua suas tambem tem tinha um uma umas uns voce`,
  nl: `aan al als bij dan dat de den der deze die dit door een en er ge geen haar had hebben heeft hem het hij hoe hoeveel hun ik in is ja je kan kon
    maar me meer men met mij mijn na naar niet nog nu of om onder ook op over te tegen toch toen tot uit uw van veel voor waar waarom wanneer was wat
    we wel welke werd wie wij worden wordt zal ze zich zij zijn zo zou`,
  ru: `а без бы был была были было быть в вам вас весь во вот все всего всех вы где да для до его ее если есть еще же за здесь и из или им их к как
    какая какие какой каким когда кого который которая которые кто ли между меня мне может мы на над не него нее нет ни них но ну о об он она они оно
    от по под после почему при про с сколько со так также такой там то того тоже только том ты у уже чего чем что чтобы эта эти это этого этой этот я`,
  pl: `a aby ale bez bo by byc byl byla byly co czy dla do gdy gdzie go i ich ile im ja jak jaki jaka jakie jako je jego jej jest jestem juz kiedy
    kto ktora ktore ktory lub ma mi mnie moze my na nad nie niz o od on ona one oni oraz po pod przed przez przy sa sie ta tak take tam te tego tej
    ten to tu ty tylko w we wiele z za ze`,
  tr: `ama bir bu cok da daha de degil diye en gibi hangi hem icin ile ise kadar ki kim mi mu nasil ne neden nerede o olan olarak oldu olup sey su
    ve veya ya`,
  sv: `alla att av blev bli de dem den denna deras dess det detta du dar efter ej eller en er ett fran for ha hade han hans har hennes hon hur i in
    inte jag kan man med men mot nar och om pa sa sig sin sitt som till under upp ut vad var vara varfor vi vid vilka vilken vilket ar`,
  ar: `من في على إلى الى عن مع هذا هذه ذلك تلك التي الذي الذين ما ماذا متى أين اين كيف كم هل لماذا هو هي هم أن ان إن كان كانت قد لا لم لن و أو او ثم كل بعد قبل بين
    أي اي أية بأي لأي بماذا فماذا لماذا ممن مما عما فيما بما لما لكي كي لكن ولكن إذ إذا عند عندما حيث حين منذ حتى أيضا غير به بها بهم فيه فيها فيهم منه منها منهم عنه عنها عليه
    عليها له لها لهم إليه إليها وهو وهي وهم وهذا وهذه وكان وكانت وقد يكون تكون كما وما وفي ومن وعلى تم يتم اذكر`,
  vi: `và của là các những được cho trong với một này đó khi đã không có để từ tại ở về như bị do vào ra lên hay hoặc nào gì ai đâu bao nhiêu mấy sao thế vì nên thì mà cũng sẽ
    đang rằng theo trên dưới sau trước đến nếu bởi cùng còn nhưng rất chỉ việc điều họ nó ông bà tôi bạn chúng ta phải làm đây ấy kia hãy cái con người`,
  el: `ο η το οι τα του της των τον την τους τις και να σε με για από στο στη στην στον στα στους στις που πως πώς ποιος ποια ποιο ποιοι ποιες ποιον ποιους τι πού πότε γιατί πόσο
    πόσα πόσοι πόσες είναι ήταν έχει έχουν είχε είχαν δεν μην θα ένα ένας μια μία ως κατά μετά πριν προς αν ή αλλά όπως όταν ότι αυτό αυτή αυτός αυτά αυτές αυτοί αυτών αυτού τότε
    επίσης πολύ πιο μόνο ανά μεταξύ όσο`,
  hi: `का के की में है हैं था थे थी और से को पर ने कि यह वह ये वे इस उस इन उन एक भी नहीं तो ही या जो कर करने किया गया गई गए हुआ हुई हुए होता होती होते लिए साथ द्वारा तक बाद पहले
    क्या कौन कौनसा कौनसी कब कहाँ कहां क्यों कैसे कितना कितने कितनी किस किसने किसे किसका किसकी किसके अपने अपनी अपना जब तब जैसे कुछ कोई सभी रहा रही रहे हो जा सकता सकते सकती`,
  ro: `a al ale ai am ar are as au ca care ce cea cei cel cele cu da dar de din după după este fi fost în in între la le lor lui mai nu o pe pentru prin s sa sau se si și să sunt
    un una unei unui unde cine când cand cum cât câți câte cât care cărui cărei ceea decât doar era erau fie iar ii îl îi își însă la le li lui ne nici noi nu pot sub toate toți
    voi vor acest această acestea aceste acel acea fiind avea avut`,
  hu: `a az és egy is nem hogy van volt ez azt ezt aki ami mely amely ki mi mit mikor hol hogyan miért mennyi hány melyik milyen de meg már csak még el le fel ha mint vagy`,
  cs: `a i o u v ve na za ze z s se si je jsou byl byla bylo byli do od po pro při jak kde kdy kdo co proč kolik který která které kteří jaký jaká jaké to ten ta ti že ale nebo než až už jen také není být`,
  fi: `ja on oli ei se että joka jotka mikä mitä kuka ketkä missä milloin miten miksi kuinka monta paljonko mutta tai kun jos niin myös vain ovat olivat olla hän he tämä tuo ne`,
  da: `og i at det er en et den de til på af for med som der har var ikke fra men om han hun hvad hvem hvor hvornår hvordan hvorfor hvilken hvilket hvilke hvor mange blev være kan ved sig så`,
  id: `dan di ke dari yang untuk pada dengan adalah ini itu dalam oleh sebagai tidak akan telah atau juga dapat apa siapa kapan mana bagaimana mengapa berapa ada para karena`,
  ko: `은 는 이 가 을 를 의 에 에서 와 과 도 로 으로 무엇 무엇인가 누구 누가 언제 어디 어디서 어떻게 왜 몇 어떤 무슨 그 이것 그것 있는 하는 및`,
  accented: `más qué él tú sí mí cuándo cuánto cuánta cuántos cuántas dónde cómo quién quiénes cuál cuáles está están también según où à été même être étaient déjà não só é já há até são
    também für über können può è più perché né già ché są się że ją był była było były już też żeby för är från når på där är då även på için nasıl çok değil şey kaç hangi kimin mı mü
    mu dır dir tarafından üzerinde sonra önce idi`,
}

export const stopWords: ReadonlySet<string> = new Set(
  Object.values(byLanguage).join(' ').split(/\s+/),
)

/** The word after one is the subject: "how long", "wie lange", "combien de temps". */
export const questionWords: ReadonlySet<string> = new Set(
  `who whom whose what which when where why how
  wer wem wen wessen was welche welcher welches welchem welchen wann wo wohin woher womit wofur wozu wovon warum wieso weshalb wie wieviel wieviele
  quien quienes que cual cuales cuando donde adonde como cuanto cuanta cuantos cuantas
  qui quoi quel quelle quels quelles quand ou pourquoi comment combien
  chi che cosa quale quali quando dove perche come quanto quanta quanti quante
  quem qual quais onde porque quantos quantas
  wat welke wanneer waar waarom hoe hoeveel
  кто кого кому что чего какои какая какое какие когда где куда откуда почему зачем как сколько
  kto kogo co jaki jaka jakie ktory ktora ktore kiedy gdzie skad dlaczego jak ile
  kim ne hangi neden nicin nasil nasıl nerede kac
  vem vad vilken vilket vilka nar var varfor hur
  من ما ماذا متى اين كيف كم هل لماذا`.split(/\s+/),
)

/** Words that may stand between the question word and the subject: "how many weeks". */
export const quantityWords: ReadonlySet<string> = wordSet('much many viel viele vielen de')

/** Of languages without spaces; cut from a text before its bigrams are read. */
export const stopPhrases =
  /什么|甚麼|什麼|哪里|哪裡|哪些|哪个|哪個|哪|谁|誰|多少|为什么|為什麼|怎么|怎麼|怎样|如何|何时|何種|几个|幾個|以及|或者|因为|所以|但是|他们|她们|它们|我们|你们|这个|那个|一个|一些|[的了是在和与與及或被把从從到对對于於而且也都就则這这那之其吗嗎呢吧]|です|ます|でした|ました|する|した|して|される|された|いる|ある|から|まで|どの|どこ|いつ|だれ|なぜ|なに|どう|[はがをにのともへやか]/g
