import type { Wording } from './wording.ts';

export const en: Wording = {
  hello: ['Hello?', 'Hello, who is calling?', 'Yes, hello?'],
  stillThere: ['Hello?', 'Hello? Are you still there?'],
  yes: ['Yes.', 'Yes, sure.', 'Yeah, that works.', 'Of course, yes.'],
  no: ['No.', "No, I'm afraid not.", 'No, sorry.'],
  confirmed: ['Yes, that is right.', "Yes, that's correct.", 'Yes, exactly.'],
  goodbye: ['Bye.', 'Thanks, goodbye.', 'Goodbye.'],
  dates: ['Next Tuesday.', 'Tomorrow would be good.', 'On Friday, please.', 'The 3rd of May.'],
  times: ["Around three o'clock in the afternoon.", 'At half past nine.', 'Ten in the morning.'],
  names: ['My name is Alex Morgan.', 'This is Jordan Lee.', "It's Sam Rivera."],
  remarks: [
    'Please ring the bell twice.',
    'The side entrance is easier to find.',
    'There is a friendly dog in the garden.',
  ],
  numbers: ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'],
  useless: ['Hmm, hmm.', 'Uh, well, you know.', 'Blah blah blah.', 'Mmm.'],
  interruptions: ['Wait, can you say that again?', 'Sorry, who is this?'],
  optOut: ["Please don't call me again.", 'Take me off your list.', 'Stop calling me.'],
  dontKnow: "I don't know.",
  monologue:
    'Oh, you will not believe what happened to my neighbour last summer, she wanted to paint the whole ' +
    'house and then her cousin came with the truck, the green one, you know, and he said that paint is no ' +
    'good in the rain, so they waited and waited, and in the meantime the cat had kittens, and then,',
  voicemail:
    'Hi, you have reached the voicemail of this number. I am not available right now. ' +
    'Please leave a message after the tone.',
  menu: 'Thank you for calling. For opening hours, press 1. To speak to a person, press 2.',
  menuRepeat: 'Sorry, that is not a valid choice. For opening hours, press 1. To speak to a person, press 2.',
  connecting: 'One moment, please.',
  choices: [(option) => `${option}, please.`, (option) => `I would say ${option}.`, (option) => `${option}.`],
  correction: (field, answer) => `No, about ${field}, I meant ${answer}`,

  farewellPattern: /\b(goodbye|good bye|bye|have a (nice|good|great) (day|evening))\b/,
  confirmPattern: /\b((is|was) (that|this|everything|all of that) (right|correct)|did i get|to confirm)\b/,
  datePattern: /\b(dates?|days?|when)\b/,
  timePattern: /\b(time|hour|o'clock)\b/,
  namePattern: /\b(names?|who)\b/,
};
