import { expect, it } from 'vitest';
import { latencyOf } from '../../../src/agents/latency.ts';

const moments = {
  stoppedAtMs: 1_000,
  decidedAtMs: 1_600,
  modelAtMs: 1_900,
  soundAtMs: 2_050,
  playedAtMs: 2_070,
};

it('each part of a wait counts from the moment before it, and together they are the whole', () => {
  expect(latencyOf(moments)).toEqual({
    endpointing_ms: 600,
    model_ms: 300,
    speech_ms: 150,
    transport_ms: 20,
    total_ms: 1_070,
  });
});

it('a part that there was not is null, and the next one counts from before it', () => {
  expect(latencyOf({ ...moments, modelAtMs: null })).toMatchObject({ model_ms: null, speech_ms: 450 });
  expect(latencyOf({ ...moments, soundAtMs: null })).toMatchObject({ speech_ms: null, transport_ms: 170 });
});

it('words of the model that came after another sound of ours were not waited for', () => {
  expect(latencyOf({ ...moments, modelAtMs: 2_060 })).toMatchObject({ model_ms: null, speech_ms: 450 });
});

it('the parts add up whatever the fractions, and none is negative', () => {
  const odd = { stoppedAtMs: 0.4, decidedAtMs: 0.2, modelAtMs: 10.5, soundAtMs: 10.6, playedAtMs: 9 };
  expect(latencyOf(odd)).toEqual({
    endpointing_ms: 0,
    model_ms: 11,
    speech_ms: 0,
    transport_ms: 0,
    total_ms: 11,
  });
});
