-- Finds the invitations of people whom the undo of an import removes.
create index mail_subject on mail (company_id, subject) where subject is not null;
