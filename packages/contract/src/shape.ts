/** What the schemas of answers have in common. */
import { Type, type Static, type TSchema } from 'typebox';

/** As `Static`, for what is only ever read: nothing of it can be assigned. */
export type Shape<Schema extends TSchema> = Frozen<Static<Schema>>;

type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/** A value of a result or a variable. */
export const scalar = (description: string) =>
  Type.Union([Type.String(), Type.Number(), Type.Boolean()], { description });
