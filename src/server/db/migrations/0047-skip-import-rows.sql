-- An administrator can leave single rows of a checked import out.
alter table import_row drop constraint import_row_verdict_check;
alter table import_row add constraint import_row_verdict_check
  check (verdict in ('new', 'changed', 'unchanged', 'refused', 'skipped'));
