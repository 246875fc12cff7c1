import { expect, it } from 'vitest';
import { allows, reachesCountry, whyForbidden } from '../../../../src/carriers/sip/toll-fraud.ts';
import { trunkAt } from '../../../kit/sip/carrier.ts';

const nobody = () => false;
const trunk = trunkAt(5060, { countries: ['US', 'GB', 'DE', 'JM', 'CU', 'MV'] });

it.each([
  ['+12125550100', 'may be dialled'],
  ['+442079460958', 'may be dialled'],
  ['+4930901820', 'may be dialled'],
  ['+33142685300', 'country that no trunk may call'],
  ['+18765550123', 'may be dialled'],
  ['+18095550123', 'country that no trunk may call'],
  ['+19002345678', 'premium-rate'],
  ['+19762345678', 'premium-rate'],
  ['+12129765555', 'premium-rate'],
  ['+97912345678', 'premium-rate'],
  ['+449098790000', 'premium-rate'],
  ['+491801234567', 'shared-cost'],
  ['+447012345678', 'personal number'],
  ['+8816123456789', 'satellite'],
  ['+882161234567', 'satellite'],
  ['+88312345678', 'satellite'],
  ['+870773111632', 'satellite'],
  ['+87812345678901', 'satellite'],
  ['+5371234567', 'toll fraud'],
  ['+9603331234', 'toll fraud'],
  ['+25261234567', 'toll fraud'],
  ['+80012345678', 'country that no trunk may call'],
])('%s: %s', (phone, why) => {
  const told = whyForbidden([trunk], phone, nobody);
  expect(told ?? 'may be dialled').toContain(why);
  // I10: the reason goes to clients and logs.
  expect(told ?? '').not.toContain(phone.slice(1));
});

it('a prefix that a trunk names is allowed whatever it is, on that trunk alone', () => {
  const satellite = trunkAt(5060, { name: 'sat', countries: [], allow_prefixes: ['+8816', '+1900234'] });
  expect(whyForbidden([trunk, satellite], '+8816123456789', nobody)).toBeNull();
  expect(whyForbidden([trunk, satellite], '+19002345678', nobody)).toBeNull();
  expect(whyForbidden([trunk, satellite], '+8817123456789', nobody)).not.toBeNull();
  expect(allows(trunk, '+8816123456789')).toBe(false);
  expect(allows(satellite, '+12125550100')).toBe(false);
});

it('our own numbers can not be dialled: those of any trunk, and those that the service knows', () => {
  const west = trunkAt(5060, { name: 'west', caller_numbers: ['+14155550199'] });
  expect(whyForbidden([trunk, west], '+14155550199', nobody)).toContain('this service itself');
  expect(whyForbidden([trunk], '+12025550142', nobody)).toContain('this service itself');
  expect(whyForbidden([trunk], '+12125550100', (phone) => phone === '+12125550100')).toContain(
    'this service',
  );
  // Not even by a prefix.
  const open = trunkAt(5060, { allow_prefixes: ['+1'] });
  expect(whyForbidden([open], '+12025550142', nobody)).not.toBeNull();
});

it('a country is reached by its name or by a prefix in it', () => {
  expect(reachesCountry([trunk], 'DE', '49')).toBe(true);
  expect(reachesCountry([trunk], 'FR', '33')).toBe(false);
  expect(reachesCountry([trunkAt(5060, { countries: [], allow_prefixes: ['+336'] })], 'FR', '33')).toBe(true);
});
