-- Keys live a year at most. Mails tell of new and renewed keys, and 30 and 7 days before one ends.
-- `ending_notice`: the last notice that was sent or is not needed, in days before the end.
alter table api_key add column ending_notice smallint check (ending_notice in (7, 30));
alter table api_key no force row level security;
update api_key set expires_at = least(expires_at, now() + interval '365 days');
alter table api_key force row level security;
grant update on api_key to vidimus_app;

alter table mail drop constraint mail_kind_check;
alter table mail add constraint mail_kind_check check (kind in (
  'signup', 'activate', 'reset', 'email_confirm', 'email_notice', 'password_changed', 'account_deleted',
  'key_created', 'key_renewed', 'key_ending'
));
