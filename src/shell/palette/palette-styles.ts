/** A text in the script, because a style sheet would be loaded with every page. */
export const paletteStyles = `
.palette {
  margin: 12dvh auto auto;
  inline-size: min(640px, calc(100vw - 32px));
  max-block-size: min(76dvh, 560px);
  overflow: hidden;
  background: var(--color-base-100);
  color: inherit;
  border: 1px solid var(--line);
  border-radius: var(--radius-box);
}

.palette[open] {
  display: flex;
  flex-direction: column;
}

.palette::backdrop {
  background: rgb(0 0 0 / 0.4);
}

.palette-head {
  flex: none;
  display: flex;
  align-items: center;
  gap: 8px;
  padding: 4px 8px 4px 16px;
  border-block-end: 1px solid var(--color-base-300);
}

.palette-head:has(.palette-input:focus) {
  box-shadow: inset 0 -2px var(--color-secondary);
}

.palette-input {
  flex: 1;
  min-inline-size: 0;
  block-size: 48px;
  background: none;
  font-size: 1rem;
  outline: none;
  text-overflow: ellipsis;
}

.palette-input::placeholder {
  color: var(--ink-soft);
  opacity: 1;
}

.palette-close {
  min-block-size: 44px;
  padding-inline: 8px;
  font-size: 0.875rem;
  font-weight: 600;
  cursor: pointer;
}

.palette-list {
  flex: 1;
  min-block-size: 0;
  overflow: hidden auto;
  overscroll-behavior: contain;
  padding: 4px 8px;
}

.palette-list[hidden] {
  display: none;
}

.palette-heading {
  padding: 12px 8px 4px;
  font-size: 0.75rem;
  font-weight: 600;
  color: var(--ink-soft);
}

.palette-option {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: 0 16px;
  min-block-size: 44px;
  padding: 6px 8px;
  border-radius: var(--radius-field);
  cursor: pointer;
}

.palette-option:hover {
  background: var(--color-base-200);
}

.palette-option[aria-selected="true"] {
  background: var(--color-base-200);
  outline: 2px solid var(--color-secondary);
  outline-offset: -2px;
}

.palette-label,
.palette-note {
  min-inline-size: 0;
  overflow-wrap: anywhere;
}

.palette-note {
  font-size: 0.875rem;
  color: var(--ink-soft);
}

.palette-status {
  flex: none;
  min-block-size: 36px;
  padding: 8px 16px;
  border-block-start: 1px solid var(--color-base-300);
  font-size: 0.8125rem;
  color: var(--ink-soft);
  overflow-wrap: anywhere;
}

.palette-keys {
  gap: 8px;
  padding: 24px;
  overflow-y: auto;
}

.palette-keys .palette-heading {
  padding-inline: 0;
}

.palette-keys dl > div {
  display: flex;
  flex-wrap: wrap;
  align-items: baseline;
  gap: 2px 16px;
  padding-block: 6px;
}

.palette-keys dt {
  flex: none;
  display: flex;
  gap: 4px;
  min-inline-size: 120px;
}

.palette-keys dd {
  flex: 1 1 160px;
}

.palette-keys kbd {
  padding: 2px 6px;
  border: 1px solid var(--line);
  border-radius: var(--radius-selector);
  font: inherit;
  font-size: 0.8125rem;
}

.palette-keys label {
  display: flex;
  align-items: center;
  gap: 12px;
  min-block-size: 44px;
}

.palette-keys .btn {
  align-self: end;
  flex: none;
}

@media (width < 600px) {
  .palette {
    margin-block-start: 8px;
    inline-size: calc(100vw - 16px);
    max-block-size: calc(100dvh - 16px);
  }
}
`
