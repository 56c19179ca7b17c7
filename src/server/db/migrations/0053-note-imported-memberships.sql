-- The import that has made somebody a member of a group. An undo of the import takes away what it has
-- given, and not what somebody has given again since. The next migration fills the column: in this one it
-- would hold the lock that adding a column takes.
alter table group_user add column imported_by uuid;
grant update (imported_by) on group_user to vidimus_app;
