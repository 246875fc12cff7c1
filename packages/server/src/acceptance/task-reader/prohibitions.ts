/**
 * Words that forbid calling a number, in English, Spanish, German, French, Italian and Portuguese, and the plainest
 * ones of some more languages.
 */
import { anyOf, word } from './words.ts';

const not =
  "don['’]?t|do not|never|must ?n['’]?t|must not|should ?n['’]?t|should not|shall not|may not|can ?n['’]?t|can ?not|not|no longer";
/** What may stand between "not" and "call". "Do not forget to call" is no prohibition, so this is a closed list. */
const filler =
  'to|be|being|been|ever|again|please|you|dare|try|trying|attempt|attempting|place|placing|make|making|start|any|an?|the|all|further|more|phone|telephone|outgoing|outbound|allowed|permitted|authori[sz]ed|want|wanting|wish|like|accept|accepting|receive|receiving|get|take|under|any|circumstances|even|directly|just|simply|yet|supposed|meant|for|actually|or|it|use|number';
const call =
  'calls?|calling|called|dial|dials|dialing|dialling|dialed|dialled|ring|ringing|rung|phone|phoning|phoned|telephone|telephoned|contact|contacting|contacted|reach out|use|using|used|disturb|disturbed|bother|bothered';
const stop =
  'stop|stops|cease|avoid|avoids|avoiding|cancel|cancels|cancell?ed|cancell?ing|quit|halt|suspend|refrain from|abstain from|prevent|skip|decline|forbidden to|prohibited to|illegal to|wrong to|no need to|unnecessary to|refuse to|without';
const calls = 'calls?|calling|dialing|dialling|ringing|phoning|telephoning|contacting|dial';

const english = [
  `${word(not)},? (?:(?:${filler}),? ){0,6}${word(call)}(?!-| (?:it|this|that|them|him|her) (?:an?|the|names)(?!\\p{L}))`,
  // Stopping what others do is something to talk about.
  `${word(stop)} (?:(?:all|any|every|the|this|that|our|your|my|further|more|future|scheduled|planned|phone|to|from|making|placing) ){0,3}${word(calls)}(?! (?:me|us)(?!\\p{L}))`,
  `${word('no')} (?:(?:more|further|phone|telephone|outgoing|outbound|other) )?${word('calls|calling|contact')}`,
  `do[ -]not[ -]call|${word('dnc|dnd|no-call')}`,
  word(
    'black-?list\\p{L}*|block-?list\\p{L}*|blocked|off[- ]limits|opted[- ]out|opt-?out|unsubscribed|under no circumstances|in no case',
  ),
  word(
    'wrong number|out of service|disconnected|no longer in (?:use|service)|not in (?:use|service)|not valid|invalid',
  ),
  word(
    '(?:call|phone|ring|dial|contact) (?:nobody|no[ -]?one)|forbidden|prohibited|verboten|interdit\\p{L}*|prohibid\\p{L}*|vietat\\p{L}*|proibid\\p{L}*',
  ),
  `${word('nobody|no[ -]?one')} (?:\\p{L}+ ){0,2}?${word('calls?|dials?|rings?|phones?|contacts?')}`,
  `${word('leave')} (?:\\S+ ){0,4}${word('alone')}`,
];
const spanish = [
  `${word('no|nunca|jamás|tampoco')} (?:(?:se|la|lo|le|les|los|las|nos|me|debe|deben|debemos|hay que|puede|pueden|quiere|quieren|desea|que|vuelva|volver|a|ser|recibir|más|nunca|por favor) ){0,5}(?:llam\\p{L}*|marc[ae]\\p{L}*|marques?|marquen?|telefone\\p{L}*|contact\\p{L}*|us[ae]r?)`,
  `${word('evit[ae]r?|evite|dej[ae] de|deje de|prohibido|sin|cancel[ae]r?|cancele')} (?:(?:las?|el|todas|cualquier|de) ){0,3}(?:llam\\p{L}*|marcar|contactar)`,
];
const german = [
  // "Rufen Sie … nicht an": the number may stand on either side.
  `(?<!\\p{L})(?:nicht|nie|niemals|keinesfalls|nicht mehr|nimmer)(?: (?:mehr|wieder|mehr wieder|direkt|unter dieser nummer))? (?:an(?=\\s*(?:[.,;!?)]|$|${word('und|oder|sondern|bitte|da|weil|wenn')}))|anruf\\p{L}*|anzurufen|angerufen|ruf\\p{L}*|gewähl\\p{L}*|kontaktier\\p{L}*|wähl\\p{L}*|verwende\\p{L}*|telefonier\\p{L}*)`,
  `${word('ruf\\p{L}*|kontaktier\\p{L}*|wähl\\p{L}*|telefonier\\p{L}*')} [^.;,]{0,40}?${word('nicht|nie|niemals|keinesfalls|auf keinen fall|unter keinen umständen')}(?=[^.;,]{0,30}$)`,
  word(
    'weder|keine (?:weiteren )?anrufe|kein anruf|nicht angerufen werden|auf keinen fall|unter keinen umständen',
  ),
];
const french = [
  `(?<!\\p{L})(?:n['’]|ne )(?:(?:pas|plus|jamais|la|le|les|lui|leur|me|nous|doit|doivent|faut|veut|veulent|souhaite|peut|être|qu['’]on|plus jamais|surtout) |l['’]){0,5}(?:appel\\p{L}*|rappel\\p{L}*|contact\\p{L}*|télépho\\p{L}*|compos\\p{L}*|joign\\p{L}*|utilis\\p{L}*)`,
  `${word('évite[rz]?|cesse[rz]?|arrête[rz]?|annule[rz]?|interdi[te]\\p{L}*|interdiction|sans|jamais')} (?:(?:de|les?|tous|tout) |d['’]|l['’]){0,3}appel\\p{L}*`,
];
const italian = [
  `${word('non|mai|né')} (?:(?:si|la|lo|le|li|ci|mi|deve|devono|va|vanno|vuole|vogliono|bisogna|essere|venire|più|mai|può) ){0,5}(?:chiam\\p{L}*|richiam\\p{L}*|telefon\\p{L}*|contatt\\p{L}*|compon\\p{L}*|us[ai]\\p{L}*)`,
  `${word('evit\\p{L}+|smett\\p{L}+|annull\\p{L}+|vietato|senza')} (?:(?:di|la|le|il|ogni) ){0,3}(?:chiam\\p{L}*|telefon\\p{L}*)`,
];
const portuguese = [
  `${word('não|nunca|jamais')} (?:(?:se|a|o|as|os|lhe|me|nos|deve|devem|quer|querem|pode|deseja|ser|receber|mais|para|volte) ){0,5}(?:lig\\p{L}*|telefon\\p{L}*|contat\\p{L}*|contact\\p{L}*|cham\\p{L}*|disq\\p{L}*|us[ae]r?)`,
  `${word('evit[ea]r?|par[ea] de|deix[ea] de|cancel[ea]r?|proibido|sem')} (?:(?:as?|o|qualquer|todas|de) ){0,3}(?:lig\\p{L}*|chamad\\p{L}*|telefon\\p{L}*)`,
];
const others = [
  `${word('ne|non|no')} (?:veux|voulons|voglio|vogliamo|quiero|queremos) [^.;,]{0,25}${word('(?:appel|chiam|llam|marq|telefon|contact)\\p{L}*')}`,
  `${word('bel|bellen')} [^.;,]{0,40}${word('niet|nooit')}|${word('niet|nooit')} (?:meer )?bellen`,
  `${word('nie')} (?:\\p{L}+ )?(?:dzwo\\p{L}*|zadzwo\\p{L}*)|${word('не')} (?:\\p{L}+ )?(?:\\p{L}*звон\\p{L}*|набир\\p{L}*)`,
  `${word('arama|aramayın|aramayınız|aranmasın')}|${word('ikke|inte|älä')} (?:ring\\p{L}*|soita)|${word('ring\\p{L}*')} [^.;,]{0,30}${word('ikke|inte')}`,
  '電話しない|かけない|電話をしない|不要(?:再)?(?:拨打|打|致电|联系)|别(?:再)?(?:拨打|打|致电)|請勿|请勿|勿(?:打|撥|拨)|전화하지',
];

const forbids = anyOf(...english, ...spanish, ...german, ...french, ...italian, ...portuguese, ...others);
/** Right before a number: "instead of …", "but not Ana (…". */
const excludes = anyOf(
  `${word('not|nor|skip|ignore|disregard|forget|remove|delete|block|avoid|instead of|rather than|other than|apart from|except(?: for)?|excluding|exclude|außer|excepto|salvo|sauf|tranne|exceto')} ` +
    `(?:(?!(?:call|try|ring|dial|phone|contact|reach|speak|talk) )[^\\s,;)]+ ){0,3}(?:[^\\s,;)]+,)?[\\s:("'“]*$`,
  `${word('never|nobody|nicht|pas|jamais|nunca|niemals|nie|mai')} (?:(?:at|on|under|al|au|unter|on|the|number) ){0,3}\\s*$`,
);
/** Of what was named before. */
const passive = anyOf(
  word(
    'be|being|been|werden|list|liste|lista|opted|disconnected|service|limits|wrong|valid|invalid|blocked|leave|sein',
  ),
  word('black-?listed|block-?listed|essere|être|ser'),
);
const pronoun = anyOf(
  word(
    'it|this|that|these|those|them|him|her|there|number|numbers|line|nummer|número|numéro|numero|ihn|ihm|sie|dort|here',
  ),
  `l['’]|${word('la|le|lo|les|los|las|lui')}|\\p{L}{3}(?:lo|la|le)(?!\\p{L})`,
);
/** What the callee is to be asked or told is no order to us. */
const isForCallee = anyOf(
  `(?:^|[,;]|${word('and|to|then|und|y|et|e|please')})\\s*${word('ask|tell|say|explain|mention|find out|check|remind|inform|promise|fragen?|sagen?|preg[uú]nt\\p{L}*|díga\\p{L}*|dile|diga|demand\\p{L}*|chied\\p{L}*|pergunt\\p{L}*')}`,
);

interface Prohibition {
  readonly startsAt: number;
  /** Behind its last character. */
  readonly endsAt: number;
}

/** Where words first forbid to call; null when they do not. */
export function prohibitionIn(words: string): Prohibition | null {
  const found = forbids.exec(words);
  return found === null ? null : { startsAt: found.index, endsAt: found.index + found[0].length };
}

/** "If she does not want to be called again, …": nothing that is so yet. */
const isSupposed = anyOf(
  `${word('if|when|whether|in case|falls|wenn|si|se|quand|cuando|quando')} [^,;]{0,40}${word('want|wants|wish|wishes|like|accept|receive|wünsch\\p{L}*|will|möchte\\p{L}*|quier\\p{L}*|veut|vuole|quer')}[^,;]*$`,
);

/** "Rufen Sie … nicht nach acht an", "Bel … niet". */
const isNegatedBehind = anyOf(
  `^[\\s)]*${word('nicht|nie|niemals|niet|nooit|pas|jamais|ikke|inte|not|never')}`,
);

/** Whether the words behind a number to be called forbid to call it, other than as something for the callee to hear. */
export function forbidsBehind(behind: string): boolean {
  if (isNegatedBehind.test(behind)) return true;
  const found = prohibitionIn(behind);
  if (found === null) return false;
  if (isSupposed.test(behind.slice(0, found.endsAt))) return false;
  const told = behind.search(isForCallee);
  return told < 0 || told > found.startsAt;
}

/** Whether the words right before a number leave it out. */
export function leavesOut(before: string): boolean {
  return excludes.test(before);
}

/** Whether words forbid to call what was named before them ("it must not be called"), and not what follows them. */
export function forbidsFormer(words: string): boolean {
  const found = prohibitionIn(words);
  if (found === null) return false;
  const said = words.slice(found.startsAt, found.endsAt + 24);
  return passive.test(said) || /[,;:]/.test(words.slice(found.endsAt));
}

/** Whether a sentence with no number forbids to call the one before it. */
export function forbidsAbove(sentence: string): boolean {
  const found = prohibitionIn(sentence);
  if (found === null || !forbidsBehind(sentence)) return false;
  const said = sentence.slice(found.startsAt, found.endsAt + 24);
  return passive.test(said) || pronoun.test(said);
}
