/**
 * Whether the words before and behind a number say to call it: an order to call, a way to address somebody ("at …"),
 * a label ("phone: …"). And whether they make it somebody else's to dial, or a fact to speak of.
 */
import { prohibitionIn } from './prohibitions.ts';
import { anyOf, word } from './words.ts';

const callVerb =
  'call(?: up)?|calling|phone|phoning|telephone|ring(?: up)?|ringing|dial|dialing|dialling|contact|contacting|reach|reach out to|try|speak (?:to|with)|talk (?:to|with)|get (?:hold of|in touch with|through to)|(?:be )?(?:called|phoned|reached|contacted|reachable)';
const foreignCallVerbs = [
  'll[aá]m\\p{L}*|telefone\\p{L}*|marqu?\\p{L}*|contact\\p{L}*|hable con|comun[ií]qu\\p{L}*',
  'ruf\\p{L}*|anruf\\p{L}*|anzurufen|wähl\\p{L}*|telefonier\\p{L}*|kontaktier\\p{L}*|erreich\\p{L}*|sprechen sie mit',
  '(?:r?appel|télépho|contact|compos|joign)\\p{L}*|joindre|(?:ri)?chiam\\p{L}*|telefon[aio]\\p{L}*|contatt\\p{L}*|compon\\p{L}*',
  'lig(?:ue|uem|a|ar|ando)|telefon[ea]\\p{L}*|disque|contat\\p{L}*|bel|bellen|zadzwoń|dzwo\\p{L}*|ring|ringa|soita',
  '\\p{L}*звон\\p{L}*|набер\\p{L}*|ara|arayın|gọi|hubungi|telepon|καλ[εέ]σ\\p{L}*|اتصل|להתקשר|התקשר\\p{L}*|फ़ोन|फोन|कॉल',
];
const hanCall = '电话|電話|致电|拨打|打给|전화|โทร|התקשר|טלפון';
const article = 'the|an?|this|that|last|missed|my|our|your|his|her|their|every|any|each|previous|phone|no';
const callNoun = `${word('make|place|schedule|arrange|start|do|have|give')} (?:[^.;:,]{0,40} )?(?:an? |the )?(?:\\p{L}+ )?${word('calls?|ring')}`;
const callOrder = `(?<!${word(article)} )${word(`${callVerb}|${foreignCallVerbs.join('|')}`)}(?! (?:from|off|id|back (?:number|on|at)|cent))|${callNoun}|${hanCall}`;

const saysToCall = anyOf(callOrder);
const polite =
  'please|then|instead|and|just|only|rather|also|next|finally|directly|bitte|dann|por favor|luego|puis|poi|depois|stattdessen';
/** Where, behind a mark or "and", a new order begins. */
const newOrder = anyOf(
  `(?:[,;:—–]|\\s-|${word('but|and|then|so|instead|aber|sondern|und|pero|sino|y|e|et|mais|ma|mas|dann|luego|puis|poi|depois')})[\\s"“'(]*` +
    `(?:${word(polite)}[\\s,]*){0,3}(?:${callOrder})`,
);

/** Somebody else's to dial: "ask Ana to call …", "they can call …". What we are told to do is ours. */
const us = 'you|we|i|us|please|agent|assistant|bot|ai|system|task|goal|job|aim|idea|plan|purpose|it|here';
const telling =
  'ask|asks|tell|tells|remind|invite|advise|instruct|encourage|urge|request|direct|recommend|suggest|warn|inform|notify|convince|persuade|want|wants|wanted|told|asked|expect|help|allow|let|have|get|make|needs|wishes|prefers|plans|tries|going|trying';
const person = '(?!sure |an? (?:\\p{L}+ )?call )(?:(?!you |us |the agent )\\S+ ){1,6}?';
const isSomebodyElsesToDial = anyOf(
  `${word(telling)} ${person}(?:to |that (?:they|he|she) |should |can )?(?:\\p{L}+ )?${word('call|phone|telephone|ring|dial|contact|reach|reach out|try|use|text')}(?!\\p{L})[^;]*$`,
  `(?<!(?<!\\p{L})(?:${us}) )(?<=\\p{L} )${word('can|could|may|might|should|must|will|would|shall|needs? to|has to|have to|is to|are to|wants to|wishes to')} (?!you |we |i )(?:\\p{L}+ ){0,2}?${word('call|phone|ring|dial|contact|reach|use|try')}(?!\\p{L})[^;]*$`,
  `(?<!(?:quiero|queremos|necesito|necesitamos) )${word('que')} (?:\\p{L}+ ){0,2}(?:llam[ea]n?|ligu?em?|marquen?|appelle\\p{L}*|chiam\\p{L}*)(?!\\p{L})[^;]*$`,
  `${word('pid\\p{L}*|díga\\p{L}*|dile\\p{L}*|demand\\p{L}*|dites|dis|chied\\p{L}*|dica|dì|peça\\p{L}*|diga\\p{L}*|bitten? sie|bitte ihn|bitte sie|sagen? sie')}[^.;]*(?:${word('que|de|di|a|para|dass|soll\\p{L}*|zu')}|d['’])[^;]*$`,
  `${word('soll\\p{L}*|kann|können|möge|darf')} (?:sie |er )?(?:bitte )?(?:unter |die |bei )?[^.;,]{0,20}$`,
  `${word('expect|await|wait for|waiting for|receives?|received|gets?|got|missed')} (?:an? |the |her |his )?(?:\\p{L}+ )?${word('calls?')}[^;]*$`,
  `${word('for|with|in case of|bei|in case there are')} (?:any |further |more |other |additional )*${word('questions?|inquir(?:y|ies)|enquiries|information|problems?|assistance|emergenc(?:y|ies)|fragen|rückfragen')}[^.;]*$`,
);
/** A fact to pass on or to ask about. */
const isPassedOn = anyOf(
  `(?<!(?:not|n['’]t|never|no|ne|non|não|nicht) )${word('give|gives|giving|offer|provide|share|send|pass on|pass|hand|read out|read|leave|mention|repeat|spell|quote|quoting|supply|forward|refer|transfer|redirect|route|connect|put|divert|note|write down|save|store|record|update|change|replace|add|enter|dele?te|verify|know|email|e-mail|mail|charge|pay|invoice|refund|sign|register|log in|deme|dele|denle|déle|geben|gib|nennen|donnez|donne|communiquez|dia|dai|dê|passe')}(?!\\p{L})(?![^;]*${word('an? (?:phone )?(?:call|ring)')})[^;]*$`,
  `(?<!(?:not|n['’]t|never|no|ne|non|não|nicht) )${word('tell|say|inform|explain|remind|mention|ask|asks|confirm|know|find out|advise|notify|state|announce|claims?|says?|check|verify|sagen|fragen|dile|díga\\p{L}*|pregunt\\p{L}*|dites|demand\\p{L}*|dica|chied\\p{L}*|diga|pergunt\\p{L}*')}(?!\\p{L})[^;]*${word('that|whether|if|why|how|when|where|who|which|what|new|about|to|dass|ob|que|si|se|che|de|is|are|works?|not')}(?!\\p{L})[^;]*$`,
  `${word('hotline|help-?line|help ?desk|support|switchboard|voicemail|emergency|extension')}(?: (?:numbers?|line|desk))*(?: is| are|:)(?: (?:still|now|also))?[\\s:]*$`,
  `${word('caller id|caller|callerid|display\\p{L}*|outbound|from|about|regarding|concerning|whether|if|was|were|belongs?|von|desde|depuis|dal?')}(?:[\\s:#=.,()'"-]|${word('numbers?|line|no|is|are|the|our|my|their|show|as|to|at|on')})*$`,
  `${word('old|former|previous|wrong|outdated')}(?: ${word('one|numbers?|phone|mobile|line')})*(?: is| was)?[\\s:,(]*$`,
  `${word("is|was|are|were|works?|lives?|sits?|registered|listed|he['’]s|she['’]s")}(?: \\p{L}+)? ${word('at|on|under')}\\s*$`,
  `${word("not|never|no longer|n['’]t|can['’]?t|isn['’]t")} (?:be |longer )?(?:reach\\p{L}*|available|answer\\p{L}*)(?: \\p{L}+)?\\s*$`,
);
/** What a number in such a sentence did, was or is: nothing to be called for. */
const isSpokenOf =
  /^[)\]"'”]*,?\s*(?:(?:has |had |have |just |already |has not |never |keeps |kept )*(?:called|rang|phoned|calling|texted|dialled|dialed|appears?|showed|shows|belongs?|is (?:our|my|a|an|on|registered|listed|blocked|wrong|old|dead|the (?:old|wrong|former|previous))|was|works|does not work|doesn['’]t work|no longer works))(?!\p{L})/iu;

/** "Bitten Sie Ana, … anzurufen." */
const asksSomebody = anyOf(word('bitt\\p{L}*|sag\\p{L}*|frag\\p{L}*'));
const toCall = /^[\s)]*(?:zurück)?anzurufen/iu;

/** Right before a number. */
const labels = anyOf(
  `${word('phone|telephone|tel|tél|ph|mobile|mob|cell(?:phone)?|landline|number|contact|handy\\p{L}*|telefon\\p{L}*|rufnummer|nummer|móvil|celular|teléfono|número|numéro|portable|téléphone|cellulare|numero|telemóvel|mobiel|telefoon\\p{L}*|телефон\\p{L}*|номер|тел|هاتف|رقم')}[.:：#]*\\s*(?:${word('numbers?|no|nr|nº|is|are|es|ist|lautet|est|è|é|of \\p{L}+ is|again')}[.:#]*\\s*)*[("'+:–-]*\\s*$`,
  'tel:\\s*$|(?:电话|電話|手机|携帯|でんわ|전화|☎|📞)(?:番号|번호|号码|號碼)?[はが是为:：\\s]*$',
);
const states = anyOf(`${word('is|are|es|ist|lautet|est|è|é')}(?: (?:the )?number)?[\\s:]*$`);
const isAddressed = anyOf(
  `${word('at|on|under|via|al|au|unter|auf|bei|le|il|lo|la|el|para|pelo|ao|sul|til|på|naar|op|pod|na|по|на|the number|the no|numero|número|numéro|die|der|den|an|per|على')}[\\s:("'“]*$`,
);
const isBracketed = /\p{L}[^\p{L}(]*\(\s*(?:tel|phone|ph|mobile|cell|t|m)?[.:]?\s*$/iu;
/** "- Ana Weber:", ", the office": a name and what stands around it, with no verb. */
const particle =
  'and|or|nor|ni|noch|né|nem|at|on|al|au|unter|auf|under|then|y|o|u|e|ou|oder|und|et|of|de|del|da|do|dos|la|le|van|von|der|den|the|her|his|their|its|el|los|las|office|home|work|mobile|cell|desk|reception|clinic|mother|father|wife|husband|brother|sister|son|daughter|neighbou?r|assistant|otherwise|else|dr|mr|mrs|ms|afterwards|finally|second|first|third|number|phone';
const isNamed = new RegExp(
  `^[\\s\\d"“”,;:/|()*&.\\]\\[–—-]*(?:(?<![\\p{L}'’])(?:(?:${particle})(?!\\p{L})|[\\p{Lu}\\p{Lo}][\\p{L}'’]*)[\\s"“”,;:/|()*&.\\]\\[–—-]*){0,8}$`,
  'u',
);
/** The verb of languages that put it last, right behind a number. */
const isCalledBehind = anyOf(
  `^[)\\]"'”]*\\s*(?:${word('numaralı|numarayı|numarasını|telefonu|पर')}\\s*)*${word('an|anrufen|anzurufen|kontaktieren|wählen|ara|arayın|फ़ोन|फोन|कॉल')}`,
  '^[)\\]"\'”]*\\s*(?:に|へ|まで|で|로|으로|番)?\\s*(?:お)?(?:電話|かけ|전화|连络|联系)',
);

/** Whether the words right before a number call it a phone number. */
export function isLabelled(before: string): boolean {
  return labels.test(before);
}

/** Whether words say to call somebody. */
export function ordersCall(words: string): boolean {
  return saysToCall.test(words);
}

/** Where in these words a new order to call begins; their length when none does. */
export function newOrderIn(words: string): number {
  const found = words.search(newOrder);
  const prohibition = prohibitionIn(words);
  // "Do not call, ring or dial …" is one order.
  const isForbidden = prohibition !== null && prohibition.startsAt <= found && found <= prohibition.endsAt;
  return found < 0 || isForbidden ? words.length : found;
}

/** Whether a number is for somebody else to dial, or only spoken of. */
export function isMentioned(before: string, behind: string): boolean {
  if (isSomebodyElsesToDial.test(before) || isPassedOn.test(before) || isSpokenOf.test(behind)) return true;
  return toCall.test(behind) && asksSomebody.test(before);
}

/** Whether a number is said to be somebody's, with no word on calling it. */
export function isStated(before: string): boolean {
  return !saysToCall.test(before) && states.test(before);
}

/** How words govern the number between them. */
export function governs(before: string, behind: string): boolean {
  return (
    saysToCall.test(before) ||
    isAddressed.test(before) ||
    isBracketed.test(before) ||
    isCalledBehind.test(behind)
  );
}

/** Whether the words between two numbers, or before the first one, are names and marks only, as in a list. */
export function isListed(before: string): boolean {
  return before.length <= 100 && isNamed.test(before);
}
