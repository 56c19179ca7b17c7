/** Who may see a page. A name that is not listed fails the types, and the page's first render. */
export const guardNames = ['signed-in', 'signed-out', 'none'] as const
