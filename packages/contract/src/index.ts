export * from './errors.ts';
export * from './ids.ts';
export * from './schemas.ts';
export * from './goal-file.ts';
export * from './operator.ts';
export * from './openapi.ts';
