/** The bound of what Node can answer: a fixed JSON body of a Goal Run's size. */
import { createServer } from 'node:http';

const body = JSON.stringify({ filler: 'x'.repeat(480) });
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}\n`);
});
process.once('SIGTERM', () => process.exit(0));
