import {
  comingDayOfMonth,
  comingDayOfYear,
  comingWeekday,
  dayOf,
  monthAndDay,
  nextWeeksWeekday,
  parseIsoDay,
  weekdayOf,
  type DatePattern,
} from '../understanding/dates.ts';
import { keyWords } from '../understanding/numbers.ts';
import { phrases } from '../understanding/text.ts';
import type { AnsweringTexts, Grammar, Locale, MachineWords, Texts } from './locale.ts';

const weekdays = ['domingo', 'lunes', 'martes', 'miércoles', 'jueves', 'viernes', 'sábado'];
const foldedWeekdays = ['domingo', 'lunes', 'martes', 'miercoles', 'jueves', 'viernes', 'sabado'];
const months =
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' ');

const units: Readonly<Record<string, number>> = Object.fromEntries([
  ...'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete dieciocho diecinueve veinte veintiuno veintidos veintitres veinticuatro veinticinco veintiseis veintisiete veintiocho veintinueve'
    .split(' ')
    .map((word, value) => [word, value] as const),
  ...'treinta cuarenta cincuenta sesenta setenta ochenta noventa'
    .split(' ')
    .map((word, index) => [word, 30 + 10 * index] as const),
  ...'doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos'
    .split(' ')
    .flatMap((word, index) => [
      [word, 200 + 100 * index] as const,
      [word.replace(/os$/, 'as'), 200 + 100 * index] as const,
    ]),
  ['cien', 100],
  ['ciento', 100],
  ['veintiun', 21],
]);

const list = new Intl.ListFormat('es', { type: 'disjunction' });
const small = (word: string): number => (/^una?$/.test(word) ? 1 : (units[word] ?? Number(word)));
const ordinalDays: Readonly<Record<string, number>> = { primero: 1, uno: 1 };
const number = (word = ''): number => ordinalDays[word] ?? small(word);

const weekday = `(?<weekday>${foldedWeekdays.join('|')})`;
const month = `(?<month>${months.join('|')}|setiembre)`;
const dayNumber = `(?<day>\\d{1,2}|primero|${Object.keys(units).join('|')})`;
const pattern = (source: string) => new RegExp(`\\b(?:${source})\\b`, 'g');

const dates: readonly DatePattern[] = [
  { pattern: pattern('(?<iso>\\d{4}-\\d\\d-\\d\\d)'), day: ({ iso = '' }) => parseIsoDay(iso) },
  {
    pattern: pattern(
      `(?:(?:${foldedWeekdays.join('|')}) )?(?:el )?(?:dia )?${dayNumber} de ${month}(?: (?:de |del )?(?<year>\\d{4}))?`,
    ),
    day({ day, month: name = '', year }, { today }) {
      const index = months.indexOf(name === 'setiembre' ? 'septiembre' : name) + 1;
      return year === undefined
        ? comingDayOfYear(today, index, number(day))
        : dayOf(Number(year), index, number(day));
    },
  },
  {
    pattern: pattern('(?<a>\\d{1,2})/(?<b>\\d{1,2})(?:/(?<year>\\d{4}))?'),
    day: ({ a, b, year }, { today }) =>
      year === undefined
        ? comingDayOfYear(today, Number(b), Number(a))
        : dayOf(Number(year), Number(b), Number(a)),
  },
  { pattern: pattern('pasado manana'), day: (_, { today }) => today + 2 },
  {
    pattern: pattern('(?:dentro de|en) (?<count>\\w+) (?<unit>dia|semana)s?'),
    day({ count = '', unit }, { today }) {
      const days = small(count) * (unit === 'semana' ? 7 : 1);
      return Number.isInteger(days) ? today + days : null;
    },
  },
  { pattern: /(?<!\b(?:la|esta) )\bmanana\b/g, day: (_, { today }) => today + 1 },
  {
    pattern: pattern(
      `(?:(?<which>proximo|este) )?${weekday}(?<later> (?:que viene|proximo|de la semana que viene|de la proxima semana))?`,
    ),
    day({ which, weekday: name = '', later }, { today }) {
      const wanted = foldedWeekdays.indexOf(name);
      if (which === 'proximo' || later !== undefined) return nextWeeksWeekday(today, wanted);
      return which === 'este' && weekdayOf(today) === wanted ? today : comingWeekday(today, wanted);
    },
  },
  {
    pattern: pattern(`(?:el dia|el|dia) ${dayNumber}`),
    day: ({ day }, { today }) => comingDayOfMonth(today, number(day)),
  },
  {
    pattern: pattern('hoy|esta (?:manana|tarde|noche)'),
    day: (_, { today }) => today,
  },
];

const texts: Texts = {
  disclosure: (caller) => `Hola, soy un asistente automático y llamo de parte de ${caller}.`,
  recordedDisclosure: (caller) =>
    `Hola, soy un asistente automático, llamo de parte de ${caller} y esta llamada se graba.`,
  introduction: (caller) => `Hola, llamo de parte de ${caller}.`,
  recordedIntroduction: (caller) => `Hola, llamo de parte de ${caller} y esta llamada se graba.`,
  ask(about, kind, options) {
    const question = about.endsWith('?')
      ? about
      : `Dígame, por favor: ${about}${about.endsWith('.') ? '' : '.'}`;
    return kind === 'choice' ? `${question} Puede decir ${list.format(options)}.` : question;
  },
  rephrase(about, kind, options) {
    const hints = {
      choice: `Elija una de estas opciones: ${list.format(options)}.`,
      yes_no: 'Diga sí o no, por favor.',
      number: 'Diga un número, por favor.',
      date: 'Diga un día, por ejemplo el próximo martes o el tres de mayo.',
      text: 'Bastan unas pocas palabras.',
    };
    return `Perdone, no le he entendido. ${texts.ask(about, kind === 'choice' ? 'text' : kind, [])} ${hints[kind]}`;
  },
  readBack: (facts) => `He anotado: ${facts.join('; ')}. ¿Es correcto?`,
  fact: (field, value) => `${field}: ${value}`,
  yesOrNo: 'Perdone, ¿es correcto? Diga sí o no, por favor.',
  whatToChange: '¿Qué debo cambiar?',
  stillThere: '¿Sigue ahí?',
  robot: (caller) => `Sí, soy un asistente automático, no una persona. Llamo de parte de ${caller}.`,
  about: (title) => `Se trata de: ${title}.`,
  takeYourTime: 'Por supuesto, sin prisa.',
  thanks: 'Muchas gracias.',
  goodbye: 'Adiós.',
  noneHeard: 'No le oigo. Quizá volvamos a intentarlo en otro momento.',
  outOfTime: 'Lo siento, tengo que terminar la llamada. Gracias por su tiempo.',
  badMoment: 'Entiendo. Disculpe la molestia.',
  wrongNumber: 'Disculpe, debo de tener un número equivocado.',
  optOut: 'Disculpe. No le llamaremos más.',
  voicemail: (opening, title) => `${opening} Se trata de: ${title}. No hemos podido hablar con usted. Adiós.`,
  connecting: 'Un momento, por favor, le paso.',
  value(value, kind) {
    if (typeof value === 'boolean') return value ? 'sí' : 'no';
    if (typeof value === 'number') return String(value).replace('.', ',');
    const day = kind === 'date' ? parseIsoDay(value) : null;
    if (day === null) return value;
    const { month, dayOfMonth } = monthAndDay(day);
    return `${weekdays[weekdayOf(day)]}, ${dayOfMonth} de ${months[month - 1]}`;
  },
  keypad: {
    howTo:
      'Responda, por favor, con las teclas de su teléfono. Para oír de nuevo una pregunta, pulse asterisco.',
    optOut: 'Si no quiere que le llamemos nunca más, pulse 9 en cualquier momento.',
    option: (label, key) => `Para ${label}, pulse ${key}.`,
    enterInteger: 'Marque el número y después la tecla almohadilla o numeral.',
    enterNumber:
      'Marque el número, con asterisco para la coma decimal, y después la tecla almohadilla o numeral.',
    enterDate: 'Marque el día y el mes con cuatro cifras. El tres de mayo es 0 3 0 5.',
    dateOrder: 'day_month',
    skipChoice: 'Si no lo sabe, pulse 0.',
    skipEntry: 'Si no lo sabe, pulse solo la tecla almohadilla o numeral.',
    wrongKey: 'Perdone, esa no es ninguna de las respuestas.',
    onlyKeys: 'Perdone, no puedo entender la voz. Utilice, por favor, las teclas de su teléfono.',
    nineAlone:
      'Si no quiere que le llamemos nunca más, pulse otra vez 9. Para el número nueve, pulse 9 y después la tecla almohadilla o numeral.',
    noKeys: 'No he recibido ninguna respuesta. Quizá volvamos a intentarlo en otro momento.',
  },
};

const answering: AnsweringTexts = {
  disclosure: (owner) => `Hola, ha llamado al asistente automático de ${owner}.`,
  recordedDisclosure: (owner) =>
    `Hola, ha llamado al asistente automático de ${owner} y esta llamada se graba.`,
  robot: (owner) => `Sí, soy un asistente automático, no una persona. Respondo en nombre de ${owner}.`,
  about: (title) => `Puedo ayudarle con: ${title}.`,
  noneHeard: 'No le oigo. Llame de nuevo en otro momento, por favor.',
  badMoment: 'Entiendo. Llame de nuevo cuando le venga bien.',
  wrongNumber: 'Disculpe, entonces se ha equivocado de número.',
  keypad: { noKeys: 'No he recibido ninguna respuesta. Llame de nuevo en otro momento, por favor.' },
};

const voicemail: MachineWords = {
  sure: /\b((despues|luego|tras|al|cuando|hasta|espere|espera) (de |del |a )?((que )?(oir|escuchar|oiga|escuche|oigas|escuches|sonar|suene) )?((la|el) )?(senal|tono|pitido|bip)|(llamado|llamando|comunicado|contactado) (a|al|con)( el)?( mi)? ?(buzon|contestador)|este es (el|mi) (buzon|contestador)|buzon de voz (de|del) (numero|telefono|movil|abonado|cliente|usuario))\b/,
  hints: [
    /\bha (llamado|comunicado)\b/,
    /\bno (puedo|podemos) (atender|contestar|responder|coger)(le|te|la|lo|les|os)?\b|\bno (estoy|estamos) disponibles?\b|\bno (estoy|estamos) en casa\b|\b(persona|titular|usuario)( \w+){0,4} no (esta|se encuentra) disponible\b/,
    /\b(deje|deja|dejen|grabe|graba)(nos)? (su|tu|un) (\w+ )?(mensaje|nombre|recado)\b(?! (a|con) )/,
    /\blo antes posible\b|\ben cuanto (pueda|podamos)\b/,
    /\b(nuestro )?horario (de atencion )?es\b|\bfuera de(l| nuestro) horario\b/,
    /\b(buzon de voz|contestador)\b/,
    /\bno puede (recibir|aceptar) (mas )?mensajes\b/,
  ],
};

const announcement: MachineWords = {
  sure: /\bapagado o fuera de cobertura\b/,
  hints: [
    /\bnumero (que |al que )?(usted )?(ha )?(marcado|marco|llamado|llamo|llama)\b|\b(telefono|abonado|linea|cliente) al que (usted )?(ha )?(llama|llamado|llamo)\b/,
    /\bno existe\b|\bfuera de(l area de)? (servicio|cobertura)\b|\bno (esta|se encuentra) (asignado|disponible|activo)\b|\bapagado\b|\bha sido (desconectad|dad)[oa]\b/,
    /\b(le|les) informa(mos)?\b|\bintentelo (de nuevo )?(mas tarde|de nuevo)\b|\bverifique el numero\b|\bvuelva a (marcar|intentarlo)\b/,
  ],
};

const grammar: Grammar = {
  yes: phrases(`
    si, sip, claro, claro que si, por supuesto, desde luego, seguro, vale, de acuerdo, ok, okay,
    correcto, exacto, exactamente, asi es, eso es, efectivamente, como no, sin problema, no hay
    problema, ningun problema, por que no, creo que si, supongo que si, me parece bien, esta bien,
    es correcto, no me importa, bueno si, aja, perfecto`),
  no: phrases(`
    no, nop, que va, para nada, en absoluto, de ninguna manera, nunca, jamas, todavia no, aun no,
    claro que no, por supuesto que no, desde luego que no, creo que no, me temo que no, no gracias,
    no es correcto, incorrecto, no es asi, no esta bien, negativo, mejor no, no creo, no me parece
    bien, imposible`),
  softYes:
    /\b(puedo|podemos|podre|quiero|queremos|quisiera|estare|estaremos|ire|iremos|lo hare|me viene bien|nos viene bien|bien|genial|encantad[oa]|hay|tengo|tenemos)\b/,
  softNo: /\b(ni|nadie|ningun[oa]?|tampoco|lamentablemente|desgraciadamente)\b/,
  noIdea:
    /\b(?:no (?:lo )?se|no (?:me )?acuerdo|no (?:lo )?recuerdo|ni idea|no tengo (?:ni )?idea|no estoy (?:muy )?segur[oa]|no sabria decirle|prefiero no (?:decirlo|contestar|responder|decir)|no quiero (?:decirlo|contestar|responder))\b/,
  nothing:
    /^(no|nada|nada mas|ningun[oa]|no gracias|no nada( mas)?|eso es todo|no eso es todo|no que yo sepa|nada en especial)( gracias)?$/,
  repairs: {
    amends:
      /\b(no|perdon|perdone|espere|mejor dicho|mejor|o sea|digo|quiero decir|quise decir|queria decir|en realidad|corrijo|me equivoque)\b/,
    negates: /\b(no|no es|no para|en vez de|en lugar de)( el| la| los| las| a| por| en)*\s$/,
  },
  amendsYesNo: /\b(perdon|perdone|espere|digo|quiero decir|quise decir|en realidad|me equivoque)\b/,
  fillers: new Set(
    'eh em ehm mm mmm mmmm hmm ah oh bueno pues ya sabe es que bla hola oiga diga digame el la y a vale como perdon'.split(
      ' ',
    ),
  ),
  leadIn: /^(?:(?:eh|em|ehm|mmm|bueno|pues|ah|oh|vale|sí|claro)(?![\p{L}])[\s,.…-]*)+(?=\S)/iu,
  nameLeadIn: /^(?:(?:mi|el|su) nombre(?: completo)? es|me llamo|se llama|soy|es|habla|llámeme)\s+/i,
  asksForName: /\b(nombres?|quien|llama)\b/,
  asksForDate: /(?<!\b(parte|momento|hora) del )\b(fechas?|dias?)\b/,
  numbers: {
    units,
    scales: { mil: 1_000, millon: 1_000_000, millones: 1_000_000 },
    phrases: {
      'una docena': 12,
      'media docena': 6,
      'un par': 2,
      'un par de': 2,
      nadie: 0,
      nada: 0,
      ninguno: 0,
      ninguna: 0,
      'solo yo': 1,
      'yo solo': 1,
      'yo sola': 1,
      medio: 0.5,
      media: 0.5,
      'la mitad': 0.5,
      'un cuarto': 0.25,
      una: 1,
    },
    and: 'y',
    half: ['y medio', 'y media'],
    minus: 'menos',
    point: 'coma',
    decimalMark: ',',
  },
  ordinals: {
    pattern:
      /\b(?:el|la|lo)? ?(?<ordinal>primer[oa]?|segund[oa]|tercer[oa]?|cuart[oa]|quint[oa]|sext[oa]|ultim[oa])(?: (?:opcion)\b|$)|\b(?:opcion|numero|la|el) (?<number>\d|uno|una|dos|tres|cuatro|cinco|seis|siete|ocho)$/,
    places: {
      ...units,
      ...Object.fromEntries(
        [
          ['primero', 'primera', 'primer'],
          ['segundo', 'segunda'],
          ['tercero', 'tercera', 'tercer'],
          ['cuarto', 'cuarta'],
          ['quinto', 'quinta'],
          ['sexto', 'sexta'],
        ].flatMap((forms, index) => forms.map((form) => [form, index + 1] as const)),
      ),
      una: 1,
      ultimo: -1,
      ultima: -1,
    },
  },
  dates,
  correction:
    /^(?:(?:no|ay|oh|espere|perdón|perdone|bueno|en realidad)(?![\p{L}])[\s,.]*)*(?:(?:quise|quiero|quería) decir|me refería a|me equivoqué|corrijo|he dicho mal|cámbielo a|cambie eso a|debería ser|mejor dicho|dije)(?![\p{L}])[\s,.:]*/iu,
  but: /\b(pero|excepto|salvo|solo que|aunque)\b/,
  optOut:
    /\b(no (me|nos) (vuelva|vuelvan) a llamar|no (vuelva|vuelvan) a llamar(me|nos)?|no (me|nos) llam(e|en) (mas|nunca( mas)?)|no llam(e|en) mas|(deje|dejen|pare|paren) de llamar(me|nos)?|(borre|borren|quite|quiten|elimine|eliminen)(me|nos| mi (numero|nombre))? de (su|la|sus|las) (listas?|base)|no quiero (mas llamadas|que me llamen( mas)?)|(borreme|quiteme|elimineme|borrenme|quitenme|eliminenme))\b/,
  repeat:
    /\b(repit(a|e|alo|elo)|puede repetir(lo|me)?|otra vez|una vez mas|como (dice|ha dicho|dijo)|que (ha dicho|dijo|dice)|no (le|te|lo) (he oido|oigo|he entendido|entiendo|entendi|oi)( bien)?|no (entendi|oi|entiendo)( bien)?|mas (despacio|alto))\b|^(perdon|perdone|como|que|eh)$/,
  robot:
    /\b((es|eres) (usted |tu )?(un |una )?(robot|maquina|persona( real)?|ordenador|computadora|bot|humano|grabacion|ia)|(estoy )?hablando con (un |una )?(robot|maquina|persona( real)?|ordenador|grabacion|humano)|esto es (un |una )?(robot|maquina|grabacion))\b/,
  who: /\b(quien (es|eres|habla|llama|me llama)|con quien (hablo|estoy hablando)|de parte de quien|de que empresa|de donde (llama|me llama))\b/,
  about: /\b(de que se trata|por que (me )?llama|para que (me )?llama|que (quiere|desea)|de que va)\b/,
  wait: /\b((un|deme un|espere un) (momento|segundo|minuto|momentito)|espere( un poco)?|no cuelgue|dejeme (ver|mirar|pensar))\b/,
  badMoment:
    /\b((ahora )?(estoy|ando) (ocupad[oa]|conduciendo|trabajando|en una reunion)|no es (un )?buen momento|mal momento|(ahora )?no puedo (hablar|atenderle)|llam(e|eme|en|enme) (mas tarde|luego|otro dia|manana)|no (me|nos) interesa|no tengo tiempo)\b/,
  wrongNumber:
    /\b((numero|persona) equivocad[oa]|se ha equivocado( de numero)?|se equivoca de numero|aqui no vive|no vive aqui)\b/,
  farewell: /^(vale |bueno |gracias |muchas gracias )*(adios|hasta luego|hasta pronto|chao)( adios)?$/,
  voicemail,
  announcement,
  alive:
    /\b(en que (le |te |lo |la )?(puedo|podemos|podria)|(puedo|podemos) (ayudar|servir)(le|te|lo|la)?|digame(?! su)|diga(?! (su|tu)\b)|le atiende|(?<!si )(quiere|desea) (dejar|que)|a sus ordenes|un (momento|momentito|minuto|segundo)|(llame|llameme|llamenos|vuelva a llamar) (luego|manana|mas tarde))\b/,
  named: /\b(soy|habla|le atiende|mi nombre es|me llamo)\b/,
  menuOption:
    /\bpara (?<what>[^,.;]+?),? (?:por favor )?(?:pulse|marque|presione|oprima) (?:el )?(?<key>\d|asterisco|almohadilla|\p{L}+)|\b(?:pulse|marque|presione|oprima) (?:el )?(?<key2>\d|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|cero) para (?<what2>[^,.;]+)/giu,
  keys: { ...keyWords(units), asterisco: '*', almohadilla: '#', numeral: '#' },
  person: /\b(persona|alguien|agente|operador(a)?|recepcion|representante|asesor(a)?|atencion)\b/,
};

export const es: Locale = { texts, answering, grammar };
