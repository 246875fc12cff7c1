import type { Wording } from './wording.ts';

export const es: Wording = {
  hello: ['¿Diga?', 'Hola, ¿quién es?', 'Sí, ¿dígame?'],
  stillThere: ['¿Oiga?', '¿Hola? ¿Sigue ahí?'],
  yes: ['Sí.', 'Sí, claro.', 'Por supuesto.', 'Sí, me viene bien.'],
  no: ['No.', 'No, lo siento.', 'Me temo que no.'],
  confirmed: ['Sí, es correcto.', 'Sí, exacto.', 'Sí, así es.'],
  goodbye: ['Adiós.', 'Gracias, hasta luego.', 'Adiós, gracias.'],
  dates: ['El próximo martes.', 'Mañana me viene bien.', 'El viernes, por favor.', 'El 3 de mayo.'],
  times: ['Sobre las tres de la tarde.', 'A las nueve y media.', 'A las diez de la mañana.'],
  names: ['Me llamo Lucía Romero.', 'Soy Andrés Vega.', 'Mi nombre es Marta Ruiz.'],
  remarks: [
    'Llamen dos veces al timbre, por favor.',
    'La entrada lateral es más fácil de encontrar.',
    'Hay un perro muy tranquilo en el jardín.',
  ],
  numbers: ['uno', 'dos', 'tres', 'cuatro', 'cinco', 'seis', 'siete', 'ocho'],
  useless: ['Mmm, mmm.', 'Eh, bueno, pues ya sabe.', 'Bla bla bla.', 'Mmm.'],
  interruptions: ['Espere, ¿puede repetirlo?', 'Perdone, ¿quién es usted?'],
  optOut: ['No me llamen más, por favor.', 'Bórreme de su lista.', 'Dejen de llamarme.'],
  dontKnow: 'No lo sé.',
  monologue:
    'Uy, no se va a creer lo que le pasó a mi vecina el verano pasado, quería pintar toda la casa y entonces ' +
    'llegó su primo con el camión, el verde, ya sabe, y dijo que con la lluvia la pintura no aguanta, así que ' +
    'esperaron y esperaron, y mientras tanto la gata tuvo gatitos, y entonces,',
  voicemail:
    'Hola, ha llamado al buzón de voz de este número. Ahora no puedo atenderle. ' +
    'Deje su mensaje después de la señal.',
  menu: 'Gracias por llamar. Para el horario, pulse 1. Para hablar con una persona, pulse 2.',
  menuRepeat: 'Esa opción no es válida. Para el horario, pulse 1. Para hablar con una persona, pulse 2.',
  connecting: 'Un momento, por favor.',
  choices: [(option) => `${option}, por favor.`, (option) => `Yo diría ${option}.`, (option) => `${option}.`],
  correction: (field, answer) => `No, sobre ${field}, quise decir ${answer}`,

  farewellPattern: /\b(adios|hasta (luego|pronto)|que tenga (un )?buen)\b/,
  confirmPattern: /\b(es (todo )?(correcto|eso correcto)|esta (todo )?bien asi|lo he entendido bien)\b/,
  datePattern: /\b(fechas?|dias?|cuando)\b/,
  timePattern: /\b(hora|horas)\b/,
  namePattern: /\b(nombres?|quien|llama)\b/,
};
