/**
 * What the words before and after some digits say about them, in the languages that tasks are mostly written in.
 * Patterns see the words right before the digits, or right behind them.
 */
import { word } from './words.ts';

/** Things that have a number which is no phone number. */
const numberedThings = word(
  [
    'orders?|invoices?|accounts?|acct|tickets?|references?|refs?|tracking|shipments?|parcels?|bookings?|reservations?',
    'confirmations?|polic(?:y|ies)|iban|isbn|ssn|social security|serial|(?:credit |debit )?cards?|pin|code|id|claims?',
    'cases?|flights?|sku|zip|postcode|passport|licen[cs]e|vin|membership|model|part|lot|batch|upc|ein|vat|tax',
    '(?:customer|client|member|patient|contract|caller) (?:numbers?|no|nr|id|code)',
    'pedidos?|facturas?|referencia|reserva|cuenta|tarjeta|expediente|póliza|código|cliente número|folio',
    '(?:bestell|kunden|rechnungs|auftrags|konto|referenz|vertrags|buchungs|karten|sendungs)\\p{L}*|bestellung|auftrag',
    'rechnung|konto|buchung|commandes?|factures?|référence|dossier|compte|carte|réservation|ordine|fattura|conto',
    'codice|prenotazione|pratica|fatura|conta|protocolo|bestelling|factuur|rekening|zamówienie|faktura|sipariş|заказ|счёт',
  ].join('|'),
);
const numberedThingsInHan = '注文番号|予約番号|会員番号|訂單號?|订单号?|账号|單號|单号|주문번호|예약번호';
const between = word(
  'numbers?|num|no|nr|n|id|code|is|was|are|of|with|the|to|ending|in|número|numero|núm|numéro|nummer|es|ist|lautet|est|è|é',
);
const isNumberOfSomething = new RegExp(
  `(?:${numberedThings}|${numberedThingsInHan})(?:[\\s:：#=.,()'"º°№は-]|${between})*$`,
  'iu',
);
/** Lines that nobody is to be called on, whatever country the number names. */
const isOtherLine = new RegExp(
  `${word('fax|whatsapp|sms|text(?: message)?|calling from|caller id')}(?: (?:him|her|them|it|me|us))?(?:[\\s:#=.,()'"-]|${between}|${word('at|on')})*$`,
  'iu',
);
/** Where the callee may call back: "ask them to call me at …". At the beginning of a sentence it is the task itself. */
const isForCallingBack = new RegExp(
  `(?<!you )${word('to|can|could|should|shall|may|must|will|they|she|he|them|him|her')} (?:(?!you )\\p{L}+ )?` +
    `${word('call|ring|phone|reach|contact|text|get')}(?: back)? ${word('me|us')}[^,;]{0,40}$|` +
    `${word('reach|contact|text|get back to|get hold of')} ${word('me|us')}[^,;]{0,40}$|` +
    `${word('call|ring|phone')} ${word('me|us')} back[^,;]{0,40}$|` +
    `${word('my|our')}(?: own| phone| cell| mobile| direct| callback)? ${word('number|phone|cell|mobile|line')}[^,;]{0,20}$|` +
    `${word('call-?back|callback')}(?: ${word('number|at|to|on')})*[\\s:]*$`,
  'iu',
);
const isMoney = new RegExp(`(?:[$€£¥₹]|${word('usd|eur|gbp|cad|aud|mxn|brl|inr|jpy|chf')})\\s*$`, 'iu');
const isFax = /^\s*\(?fax(?!\p{L})/iu;
const isQuantity = new RegExp(
  `^\\s*(?:[$€£¥₹%]|${word('usd|eur|gbp|dollars?|euros?|pounds?|pesos?|units?|items?|pieces?|pcs|points?|km|kg|people')})`,
  'iu',
);

const speaksOfPhones = new RegExp(
  `${word(
    [
      'call|calls|calling|phone|telephone|tel|dial|ring|mobile|cell|contact|reach|number|numbers|try',
      'llam\\p{L}*|tel[eé]f\\p{L}*|m[oó]vil|celular|n[uú]mero|marc\\p{L}*|appel\\p{L}*|t[eé]l[eé]?\\p{L}*|portable|joindre',
      'ruf\\p{L}*|anruf\\p{L}*|handy\\p{L}*|nummer|chiam\\p{L}*|cellulare|numero|lig\\p{L}*|bel|bellen|telefoon\\p{L}*',
      'mobiel|zadzwoń|dzwo\\p{L}*|numer|ara|arayın|позвон\\p{L}*|телефон\\p{L}*|номер\\p{L}*|тел|اتصل|هاتف|رقم|फ़ोन|फोन|कॉल',
      'gọi|điện|hubungi|telepon|ringa|ring|soita|puhelin\\p{L}*|καλ[εέ]σ\\p{L}*|τηλ[εέ]φων\\p{L}*',
    ].join('|'),
  )}|电话|電話|致电|拨打|手机|打给|携帯|でんわ|전화|โทร|התקשר|טלפון`,
  'iu',
);

const isAlternative = new RegExp(
  `^[\\s,;.()]*(?:[/|]\\s*$|${word('or|o|ou|oder|of|lub|eller|или')})|または|或者?|또는`,
  'iu',
);
const isFallback = new RegExp(
  word(
    [
      'no (?:answer|one answers|reply|response)|unavailable|unreachable|busy|or else|otherwise|back-?up|fall-?back',
      "(?:(?:does|do|is|are|will|ca|can)(?:n['’]t| not)|cannot|not) (?:be )?(?:answer\\p{L}*|pick|respond|reply|there|available|reach\\p{L}*)",
      'alternativ\\p{L}*|si no|sino|sinon|à défaut|wenn nicht|ansonsten|se não|senão|se non|altrimenti',
      'falls (?:sie|er|niemand|keine[rs]?|nicht)|w przeciwnym razie',
    ].join('|'),
  ),
  'iu',
);

/** Whether a number is for faxes, texts or for calling back, by the words right before and behind it. */
export function isForOtherUse(before: string, behind: string): boolean {
  const patterns = [isOtherLine, isForCallingBack];
  return patterns.some((pattern) => pattern.test(before)) || isFax.test(behind);
}

/** Whether digits that name no country are those of something else. */
export function isNoPhone(before: string, behind: string): boolean {
  return isNumberOfSomething.test(before) || isMoney.test(before) || isQuantity.test(behind);
}

/** Whether a sentence speaks of phoning. */
export function mentionsPhone(sentence: string): boolean {
  return speaksOfPhones.test(sentence);
}

/** Whether the words between two numbers, or their last sentence, say that the second is for when the first fails. */
export function meansInstead(between: string, lastSentence: string): boolean {
  return isAlternative.test(between) || isFallback.test(lastSentence);
}
