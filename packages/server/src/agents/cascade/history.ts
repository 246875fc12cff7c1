/** The conversation so far, as the chat model sees it: what the callee said, and of our words those that were heard. */
import type { ChatMessage, UsedTool } from './ports.ts';

/** Older ones are forgotten; a call of an hour has about this many. */
const maxMessages = 200;

export class History {
  #messages: ChatMessage[] = [];

  heard(text: string): void {
    const last = this.#messages.at(-1);
    // Many servers want the two sides to take turns.
    if (last?.role !== 'user') return this.#add({ role: 'user', content: text });
    this.#messages[this.#messages.length - 1] = { role: 'user', content: `${last.content}\n${text}` };
  }

  /** What the callee said last, if nothing was said since. */
  get lastHeard(): string {
    const last = this.#messages.at(-1);
    return last?.role === 'user' ? last.content : '';
  }

  said(text: string, interrupted: boolean): void {
    if (text === '') return;
    const content = interrupted ? `${text} …` : text;
    const last = this.#messages.at(-1);
    if (last?.role !== 'assistant') return this.#add({ role: 'assistant', content });
    this.#messages[this.#messages.length - 1] = { role: 'assistant', content: `${last.content} ${content}` };
  }

  used(said: string, uses: readonly UsedTool[]): void {
    this.#add({ role: 'tool_use', said, uses });
  }

  /** A request's messages. The last one is the callee's or a tool's, also when nobody spoke. */
  with(system: string): ChatMessage[] {
    const last = this.#messages.at(-1);
    const silence: ChatMessage[] =
      last === undefined || last.role === 'assistant' ? [{ role: 'user', content: '(silence)' }] : [];
    return [{ role: 'system', content: system }, ...this.#messages, ...silence];
  }

  #add(message: ChatMessage): void {
    this.#messages.push(message);
    if (this.#messages.length > maxMessages) this.#messages.shift();
  }
}
