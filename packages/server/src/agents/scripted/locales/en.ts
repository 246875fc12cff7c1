import {
  comingDayOfMonth,
  comingDayOfYear,
  comingWeekday,
  dayOf,
  monthAndDay,
  nextWeeksWeekday,
  parseIsoDay,
  weekdayOf,
  type DateContext,
  type DatePattern,
  type Day,
} from '../understanding/dates.ts';
import { keyWords } from '../understanding/numbers.ts';
import { phrases } from '../understanding/text.ts';
import type { AnsweringTexts, Grammar, Locale, MachineWords, Texts } from './locale.ts';

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const months = 'january february march april may june july august september october november december'.split(
  ' ',
);
const shortMonths = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const ordinals =
  'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth'
    .split(' ')
    .concat('first second third fourth fifth sixth seventh eighth ninth'.split(' ').map((n) => `twenty ${n}`))
    .concat('thirtieth', 'thirty first');

const units: Readonly<Record<string, number>> = Object.fromEntries([
  ...'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
    .split(' ')
    .map((word, value) => [word, value] as const),
  ...'twenty thirty forty fifty sixty seventy eighty ninety'
    .split(' ')
    .map((word, index) => [word, 20 + 10 * index] as const),
]);

const list = new Intl.ListFormat('en', { type: 'disjunction' });
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
const small = (word: string): number => units[word] ?? (/^an?$/.test(word) ? 1 : Number(word));
const alternatives = (words: readonly string[]) => [...words].sort((a, b) => b.length - a.length).join('|');

const weekday = `(?<weekday>${alternatives(weekdays)})`;
const month = `(?<month>${alternatives([...months, ...shortMonths, 'sept'])})`;
const dayNumber = `(?<day>\\d{1,2})(?:st|nd|rd|th)?|(?<ordinal>${alternatives(ordinals)})`;
const pattern = (source: string) => new RegExp(`\\b(?:${source})\\b`, 'g');

type Groups = Readonly<Record<string, string | undefined>>;

function dayOfMonth({ day, ordinal }: Groups): number {
  return ordinal === undefined ? Number(day) : ordinals.indexOf(ordinal) + 1;
}

function dayInMonth(groups: Groups, { today }: DateContext): Day | null {
  const number = shortMonths.indexOf((groups['month'] ?? '').slice(0, 3)) + 1;
  const { year } = groups;
  return year === undefined
    ? comingDayOfYear(today, number, dayOfMonth(groups))
    : dayOf(Number(year), number, dayOfMonth(groups));
}

/** 5/3 is the 3rd of May in the United States and the 5th of March elsewhere. */
function slashed({ a, b, year }: Groups, { today, region }: DateContext): Day | null {
  const [monthNumber, day] =
    region === null || region === 'US' ? [Number(a), Number(b)] : [Number(b), Number(a)];
  return year === undefined
    ? comingDayOfYear(today, monthNumber, day)
    : dayOf(Number(year), monthNumber, day);
}

function onWeekday({ which, weekday: name = '', later }: Groups, { today }: DateContext): Day {
  const wanted = weekdays.indexOf(name);
  if (which === 'next' || later !== undefined) return nextWeeksWeekday(today, wanted);
  return which === 'this' && weekdayOf(today) === wanted ? today : comingWeekday(today, wanted);
}

const dates: readonly DatePattern[] = [
  { pattern: pattern('(?<iso>\\d{4}-\\d\\d-\\d\\d)'), day: ({ iso = '' }) => parseIsoDay(iso) },
  {
    pattern: pattern(
      `(?:${alternatives(weekdays)} )?(?:the )?(?:${dayNumber}) (?:day )?(?:of )?${month}(?: (?<year>\\d{4}))?`,
    ),
    day: dayInMonth,
  },
  {
    pattern: pattern(
      `(?:${alternatives(weekdays)} )?${month} (?:the )?(?:${dayNumber})(?:,? (?<year>\\d{4}))?`,
    ),
    day: dayInMonth,
  },
  { pattern: pattern('(?<a>\\d{1,2})/(?<b>\\d{1,2})(?:/(?<year>\\d{4}))?'), day: slashed },
  { pattern: pattern('(?:the )?day after tomorrow'), day: (_, { today }) => today + 2 },
  {
    pattern: pattern(
      '(?<count>\\w+) (?<unit>day|week)s? from (?<from>now|today|tomorrow)|in (?<count2>\\w+) (?<unit2>day|week)s?',
    ),
    day: ({ count, count2, unit, unit2, from }, { today }) => {
      const days = small(count ?? count2 ?? '') * ((unit ?? unit2) === 'week' ? 7 : 1);
      return Number.isInteger(days) ? today + days + (from === 'tomorrow' ? 1 : 0) : null;
    },
  },
  { pattern: pattern('tomorrow'), day: (_, { today }) => today + 1 },
  {
    pattern: pattern(
      `(?:${alternatives(weekdays)} )?the (?:(?<day>\\d{1,2})(?:st|nd|rd|th)?|(?<ordinal>${alternatives(ordinals)}))(?! one| option| choice)`,
    ),
    day: (groups, { today }) => comingDayOfMonth(today, dayOfMonth(groups)),
  },
  {
    pattern: pattern(`(?:(?<which>next|this) (?:coming )?)?${weekday}(?<later> (?:of )?next week)?`),
    day: onWeekday,
  },
  { pattern: pattern('today|tonight|this (?:morning|afternoon|evening)'), day: (_, { today }) => today },
];

const texts: Texts = {
  disclosure: (caller) => `Hello, this is an automated assistant calling for ${caller}.`,
  recordedDisclosure: (caller) =>
    `Hello, this is an automated assistant calling for ${caller}, and this call is recorded.`,
  introduction: (caller) => `Hello, I am calling for ${caller}.`,
  recordedIntroduction: (caller) => `Hello, I am calling for ${caller}, and this call is recorded.`,
  ask(about, kind, options) {
    const question = about.endsWith('?')
      ? about
      : `Please tell me: ${about}${about.endsWith('.') ? '' : '.'}`;
    return kind === 'choice' ? `${question} You can say ${list.format(options)}.` : question;
  },
  rephrase(about, kind, options) {
    const hints = {
      choice: `Please choose one of these: ${list.format(options)}.`,
      yes_no: 'Please say yes or no.',
      number: 'Please say a number.',
      date: 'Please name a day, such as next Tuesday or the third of May.',
      text: 'A few words are enough.',
    };
    return `Sorry, I did not understand that. ${texts.ask(about, kind === 'choice' ? 'text' : kind, [])} ${hints[kind]}`;
  },
  readBack: (facts) => `I have noted: ${facts.join('; ')}. Is that right?`,
  fact: (field, value) => `${field}: ${value}`,
  yesOrNo: 'Sorry, is that right? Please say yes or no.',
  whatToChange: 'What should I change?',
  stillThere: 'Are you still there?',
  robot: (caller) => `Yes, I am an automated assistant, not a person. I am calling for ${caller}.`,
  about: (title) => `It is about: ${title}.`,
  takeYourTime: 'Of course, take your time.',
  thanks: 'Thank you very much.',
  goodbye: 'Goodbye.',
  noneHeard: 'I could not hear you. We may try again another time.',
  outOfTime: 'I am sorry, I have to end the call now. Thank you for your time.',
  badMoment: 'I understand. Sorry to have disturbed you.',
  wrongNumber: 'I am sorry, I must have the wrong number.',
  optOut: 'I am sorry. We will not call you again.',
  voicemail: (opening, title) => `${opening} It is about: ${title}. We did not reach you in person. Goodbye.`,
  connecting: 'One moment, please, I am connecting you.',
  value(value, kind) {
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    const day = kind === 'date' ? parseIsoDay(String(value)) : null;
    if (day === null) return String(value);
    const { month, dayOfMonth } = monthAndDay(day);
    return `${capital(weekdays[weekdayOf(day)] ?? '')}, ${capital(months[month - 1] ?? '')} ${dayOfMonth}`;
  },
  keypad: {
    howTo: 'Please answer with the keys of your telephone. To hear a question again, press star.',
    optOut: 'If you never want to be called again, press 9 at any time.',
    option: (label, key) => `For ${label}, press ${key}.`,
    enterInteger: 'Enter the number, then press the pound or hash key.',
    enterNumber: 'Enter the number, with star for the decimal point, then press the pound or hash key.',
    enterDate: 'Enter the month and the day with four digits. The third of May is 0 5 0 3.',
    dateOrder: 'month_day',
    skipChoice: 'If you do not know, press 0.',
    skipEntry: 'If you do not know, press only the pound or hash key.',
    wrongKey: 'Sorry, that is none of the answers.',
    onlyKeys: 'Sorry, I can not understand speech. Please use the keys of your telephone.',
    nineAlone:
      'If you never want to be called again, press 9 once more. For the number nine, press 9 and then the pound or hash key.',
    noKeys: 'I did not get any answer. We may try again another time.',
  },
};

const answering: AnsweringTexts = {
  disclosure: (owner) => `Hello, you have reached the automated assistant of ${owner}.`,
  recordedDisclosure: (owner) =>
    `Hello, you have reached the automated assistant of ${owner}, and this call is recorded.`,
  robot: (owner) => `Yes, I am an automated assistant, not a person. I answer for ${owner}.`,
  about: (title) => `I can help you with: ${title}.`,
  noneHeard: 'I can not hear you. Please call again another time.',
  badMoment: 'I understand. Please call again whenever it suits you.',
  wrongNumber: 'I am sorry, then you have the wrong number.',
  keypad: { noKeys: 'I did not get any answer. Please call again another time.' },
};

const voicemail: MachineWords = {
  sure: /\b((after|at|following|until|for|hear) (the|a|this|that) (\w+ )?(tone|beep|signal)\b(?! of)|(reached|this is)( [\w']+){0,3} (voice ?mail|mailbox|answering machine)(?! (department|team|company))|record (your|a) (\w+ )?message|automated voice messag(e|ing))\b/,
  hints: [
    /\byou( have|'ve) reached\b/,
    /\b(i|we|i'm|i am|we're|we are) (\w+ )?(can't|can not|cannot|not able to|unable to) (\w+ )?((come to|get to|answer|pick up) (the|my) (tele)?phone|(take|answer) (the|your|my) (phone )?call)\b|\b(i'm|i am|we're|we are|no one is|nobody is|(calling|called|reach) is) (\w+ )?(not available|unavailable|away from|not (here|in) right now)\b|\bsorry (i|we) missed (you|your call)\b(?! earlier)/,
    /(?<!\b(?:to|can|could|may|might|should|you|they|he|she) )\bleave (us )?(a|your) (\w+ ){0,3}(message|name)\b(?! (with|at))/,
    /\bas soon as (i|we) can\b|\b(you back|to you|your call) as soon as possible\b/,
    /\bif this is an? (\w+ )?emergency\b|\bhang up and (dial|call)\b|\b(office|business|opening) hours are\b/,
    /\b(voice ?mail|mailbox|answering machine)\b/,
    /\b(accept|take|receive) (any |new )*messages\b/,
  ],
};

const announcement: MachineWords = {
  sure: /\b(number|subscriber) you( have|'ve| are|'re)? (dialed|dialled|called|calling|trying to reach)( \w+){1,3} (not in service|out of service|disconnected|not recogni[sz]ed|switched off|no longer in service)\b/,
  hints: [
    /\bnumber you( have|'ve| are|'re)? (dialed|dialled|called|calling|reached|trying to (reach|call))\b|\breached a (number that|non working|disconnected)\b/,
    /\b(not|no longer|out of) (in )?service\b|\b(been|is) disconnected\b|\b(cannot|can't|can not|could not) be (reached|completed|connected)\b|\bnot (been )?recogni[sz]ed\b|\bswitched off\b|\b(dialed|dialled|called|calling) is (\w+ )?not available\b/,
    /\bsubscriber\b/,
    /\bas (dialed|dialled)\b|\btry (your call )?again later\b|\b(try|dial) your call again\b|\bcheck the number\b/,
  ],
};

const grammar: Grammar = {
  yes: phrases(`
    yes, yeah, yep, yup, ya, yes sir, sure, of course, certainly, definitely, absolutely, ok, okay,
    alright, all right, correct, exactly, indeed, affirmative, no problem, not a problem, why not,
    no worries, by all means, you bet, that's right, that is right, that's true, that is true,
    please do, sounds good, sounds great, absolutely not a problem, uh huh, mm hmm, mhm, i think so,
    i guess so, i suppose so, i believe so, i hope so, don't mind, do not mind`),
  no: phrases(`
    no, nope, nah, no way, not really, not at all, not yet, never, negative, no thanks, no thank
    you, i don't think so, i do not think so, absolutely not, definitely not, of course not,
    certainly not, i'm afraid not, i am afraid not, not possible, incorrect, wrong, not correct,
    that's not right, that is not right, not right, sure not, uh uh, not true, rather not`),
  softYes:
    /\b(i (will|can|do|did|would|have|am|was|could)|we (will|can|do|did|would|have|are|were)|i'll|we'll|i'd (love|like) to|it (is|does|will|works)|works( for me)?|fine|good|great|perfect|happy to|right|true|there is|there are)\b/,
  softNo: /\b(\w+n't|not|cannot|nobody|none|neither|unable|impossible|unfortunately)\b/,
  noIdea:
    /\b(?:i (?:really )?(?:don't|do not) (?:know|remember|recall)|no idea|(?:i'm |i am )?not (?:so |really |quite )?(?:sure|certain)|(?:i )?(?:can't|cannot|could not|couldn't) (?:say|remember|tell)|(?:i )?have no clue|no clue|(?:i'd |i would )?(?:rather|prefer) not(?: to)?(?: say| answer| tell)?|none of your business|i don't want to (?:say|answer|tell))\b/,
  nothing:
    /^(no|nope|none|nothing|not really|no (thanks|thank you)|nothing (else|more|special)|that's (all|it)|that is (all|it)|not that i know( of)?|i'm (good|fine)|no that's (all|it|fine|ok|okay)|no nothing( else| more| special)?|no i'm (good|fine))( thanks| thank you)?$/,
  repairs: {
    amends:
      /\b(no|wait|sorry|actually|i mean|i meant|i should say|or rather|rather|make that|make it|correction|hold on|better)\b/,
    negates: /\b(not|isn't|can't do|but not|instead of|rather than)( on| in| at| the| a| for)*\s$/,
  },
  amendsYesNo: /\b(wait|sorry|actually|i mean|i meant|make that|correction|hold on)\b/,
  fillers: new Set(
    'uh um hmm hm mm mmm er erm ah oh well you know so like just what pardon huh blah hello hi hey the a and i it is ok okay whatever'.split(
      ' ',
    ),
  ),
  leadIn: /^(?:(?:uh|um|er|erm|hmm|well|oh|so|okay|ok|yes|yeah|sure)\b[\s,.…-]*)+(?=\S)/i,
  nameLeadIn:
    /^(?:(?:my|the|her|his) (?:full )?name is|name's|it's|it is|this is|i'm|i am|call me|you can call me)\s+/i,
  asksForName: /\b(names?|who|whom)\b/,
  asksForDate: /(?<!\b(part|time) of (the )?)\b(dates?|days?)\b/,
  numbers: {
    units,
    scales: { hundred: 100, thousand: 1_000, million: 1_000_000, dozen: 12 },
    phrases: {
      'a dozen': 12,
      'half a dozen': 6,
      'a couple': 2,
      'a couple of': 2,
      'a pair': 2,
      'no one': 0,
      nobody: 0,
      none: 0,
      nothing: 0,
      'just me': 1,
      'only me': 1,
      'a half': 0.5,
      half: 0.5,
      'one half': 0.5,
      once: 1,
      twice: 2,
      'both of us': 2,
    },
    and: 'and',
    half: ['and a half', 'and one half'],
    minus: 'minus',
    point: 'point',
    decimalMark: '.',
  },
  ordinals: {
    pattern:
      /\b(?:the )?(?<ordinal>first|second|third|fourth|fifth|sixth|seventh|eighth|last)(?: (?:one|option|choice)\b|$)|\b(?:option|number|choice) (?<number>\d|one|two|three|four|five|six|seven|eight)\b/,
    places: {
      ...Object.fromEntries(ordinals.slice(0, 8).map((word, index) => [word, index + 1])),
      ...units,
      last: -1,
    },
  },
  dates,
  correction:
    /^(?:(?:no|oh|wait|sorry|actually|hold on|excuse me|well)\b[\s,.]*)*(?:i (?:mean|meant|said|misspoke|should have said)|correction|let me correct (?:that|myself)|make that|change (?:that|it) to|it should be|i made a mistake)\b[\s,.:]*/i,
  but: /\b(but|except|only that|however|although)\b/,
  optOut:
    /\b((don't|do not|never|stop|quit) (ever )?(call|calling|phone|phoning|ring|contact|contacting)( (me|us|here|this number|my (phone|house|number)))?( (again|any ?more|ever( again)?|any longer|please))*(?! (before|after|until|at|between|on|in|back|if|when|me back))|(remove|take|delete|erase) (me|us|my (number|name)|this number|our number) (off|from)|take me off|unsubscribe|do not call list|no more calls)\b/,
  repeat:
    /\b(repeat|say (that|it) again|come again|once more|one more time|pardon( me)?|(i )?(didn't|did not|couldn't|can't) (hear|catch|understand|get)( (you|that|it))?|what did you say|what was (that|the question)|speak (up|slower|louder)|excuse me what)\b|^(sorry|what|huh)$/,
  robot:
    /\b((are|r) you (a |an )?(real|human|robot|machine|computer|bot|person|ai|automated|recording|actual)|(is|am i) (this|it|i|speaking|talking) (speaking |talking )?(to |with )?(a |an )?(real|human|robot|machine|computer|bot|person|ai|automated|recording)|talking to a (robot|machine|computer|bot|human|person|real person))\b/,
  who: /\b(who (is|are) (this|calling|you|speaking|it|that)|who's (this|calling|speaking|that|there)|who do you work for|where are you calling from|what company|whom am i speaking|who am i (talking|speaking) (to|with))\b/,
  about:
    /\b(what('s| is) (this|it|that) (about|regarding|for)|why are you calling|what do you want|what('s| is) this call about)\b/,
  wait: /\b((one|a|just a|wait a|hang on a|give me a) (moment|second|minute|sec)|hold on|hang on|let me (check|see|look|think)|bear with me)\b/,
  badMoment:
    /\b(i'm (busy|driving|in a meeting|at work)|i am (busy|driving|in a meeting|at work)|not a good time|bad time|(can't|cannot) talk|call (me |us )?(back )?(later|another time|tomorrow|back)|not interested|don't have time|no time)\b/,
  wrongNumber:
    /\b(wrong (number|person)|no one (here )?(by|with|of) that name|nobody (here )?(by|with|of) that name|(doesn't|does not) live here)\b/,
  farewell: /^(ok |okay |thanks |thank you |alright |well )*(goodbye|good bye|bye)( bye)?( now)?$/,
  voicemail,
  announcement,
  alive:
    /\b(how (may|can|could) (i|we)|(may|can|could|shall) (i|you)|(would|do) you (like|want|have|need|mind)|speaking(?! (to|with|the))|go ahead|please hold|bear with|i('ll| will| can) (tell|let|pass|put|page|check|transfer|connect|have|get) (you|him|her|it|them|that)|call (me |us )?back (later|tomorrow))\b/,
  named: /\b(this is(?! an? )|my name is|my name's|(?!(not|nobody|one)\b)\w+ here)\b/,
  menuOption:
    /\b(?:for|to) (?<what>[^,.;]+?),? (?:please )?(?:press|dial) (?<key>\d|star|pound|\w+)\b|\b(?:press|dial) (?<key2>\d|star|pound|one|two|three|four|five|six|seven|eight|nine|zero) (?:for|to) (?<what2>[^,.;]+)/gi,
  keys: { ...keyWords(units), star: '*', pound: '#', hash: '#' },
  person:
    /\b(person|someone|somebody|representative|operator|reception(ist)?|agent|human|staff|team|assistant)\b/,
};

export const en: Locale = { texts, answering, grammar };
