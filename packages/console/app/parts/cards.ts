/** What a table of cards needs: styles that make rows to blocks take from it what it is, and its heads out of sight. */
const roles: Readonly<Record<string, string>> = {
  TABLE: 'table',
  THEAD: 'rowgroup',
  TBODY: 'rowgroup',
  TD: 'cell',
};

/** Gives each cell of the tables of a region the name of its column, and says of all parts what they are. */
export function nameCells(region: HTMLElement): void {
  for (const table of region.querySelectorAll<HTMLTableElement>(':scope > table:has(> thead)')) {
    const [heads] = table.rows;
    const names = [...(heads?.cells ?? [])].map((head) => head.textContent.trim());
    for (const row of table.rows) {
      row.setAttribute('role', 'row');
      for (const cell of row.cells) {
        const isHead = row === heads;
        cell.setAttribute('role', isHead ? 'columnheader' : (roles[cell.tagName] ?? 'rowheader'));
        const name = isHead || cell.colSpan > 1 ? undefined : names[cell.cellIndex];
        if (name) cell.dataset['label'] = name;
        else delete cell.dataset['label'];
      }
    }
    for (const part of [table, ...table.children]) {
      const role = roles[part.tagName];
      if (role !== undefined) part.setAttribute('role', role);
    }
  }
}
