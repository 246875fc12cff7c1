import { expect, test } from 'vitest';
import { csvLine } from '../../../src/http/csv.ts';

test.each([
  [['a', 1, true, null], 'a,1,true,'],
  [['a,b', 'say "x"', 'two\nlines'], '"a,b","say ""x""","two\nlines"'],
  [['Grüße 🙂'], 'Grüße 🙂'],
  [['=1+1', '+1', '-1', '@a', '\t=1'], "'=1+1,'+1,'-1,'@a,'\t=1"],
  [['=HYPERLINK("x")', '\r=1'], `"'=HYPERLINK(""x"")","'\r=1"`],
])('%j is written as %j', (cells, line) => expect(csvLine(cells)).toBe(`${line}\r\n`));
