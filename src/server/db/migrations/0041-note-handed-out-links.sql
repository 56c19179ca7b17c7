-- Without a mail server, an administrator passes the link of a mail on. Only then has the person a link:
-- the letters themselves stay in the folder of unsent mails.
alter table mail_token add column handed_out boolean not null default false;
