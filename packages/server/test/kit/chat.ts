import { createChat, type Chat } from '../../src/platform/chat/chat.ts';
import { requestLimitMs } from '../../src/platform/chat/provider.ts';
import { modelName, startChatServer, type ChatServer, type ChatServerOptions } from '../fakes/chat-server.ts';
import { createManualClock } from './manual-clock.ts';

/** A chat with a model of the test's own, over a real socket and without pauses. */
export async function startChat(
  model: ChatServerOptions['model'],
  options: Partial<ChatServerOptions> = {},
): Promise<{ readonly chat: Chat; readonly server: ChatServer }> {
  const server = await startChatServer({ model, ...options });
  const clock = createManualClock(requestLimitMs);
  const chat = createChat({ clock, url: server.url, apiKey: server.key, model: modelName });
  return { chat, server };
}
