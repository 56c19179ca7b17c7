-- The import that has made somebody a member of a group. An undo of the import takes away what it has
-- given, and not what somebody has given again since.
alter table group_user add column imported_by uuid;
alter table import no force row level security;
alter table import_row no force row level security;
alter table group_user no force row level security;
update group_user set imported_by = import_row.import_id
  from import_row join import on import.company_id = import_row.company_id and import.id = import_row.import_id
 where import.state in ('running', 'done', 'undoing') and import_row.verdict = 'changed'
   and group_user.company_id = import_row.company_id and group_user.user_id = import_row.user_id
   and group_user.group_id = any (import_row.group_ids);
alter table group_user force row level security;
alter table import_row force row level security;
alter table import force row level security;
grant update (imported_by) on group_user to vidimus_app;
