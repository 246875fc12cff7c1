import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { openApiDocument, operatorOpenApiDocument, operatorPrefix } from '@trunkcall/contract';
import { sendJson } from './exchange.ts';

/** The pages load nothing from elsewhere and can not be framed. Swagger UI sets inline styles. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The document of the operator API. It holds nothing of the deployment, so it asks for no token. */
export function operatorDocs(app: FastifyInstance, { baseUrl }: { baseUrl: string | null }): void {
  const json = JSON.stringify(operatorOpenApiDocument(baseUrl === null ? {} : { baseUrl }));
  app.get(`${operatorPrefix}/openapi.json`, (_request, reply) => sendJson(reply, 200, json));
}

/** GET /openapi.json, and pages for people under /docs; all from this process, without the internet. */
export function docs(app: FastifyInstance, { baseUrl }: { baseUrl: string | null }): void {
  const document = openApiDocument(baseUrl === null ? {} : { baseUrl });
  const json = JSON.stringify(document);
  app.get('/openapi.json', (_request, reply) => sendJson(reply, 200, json));
  app.register(async (pages) => {
    await pages.register(swagger, {
      mode: 'static',
      specification: { document: JSON.parse(json) },
    });
    await pages.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: contentSecurityPolicy,
      theme: { title: 'Trunkcall API' },
      uiConfig: { deepLinking: true, persistAuthorization: false },
    });
  });
}
