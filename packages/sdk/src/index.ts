/** Clients for Trunkcall: `Trunkcall` for programs that start calls, `OperatorClient` for those who run the service. */
export * from './client.ts';
export * from './errors.ts';
export * from './operator.ts';
export type { CallOptions, ClientOptions, Sleep } from './transport.ts';
