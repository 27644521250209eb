-- Which views a file has and what they were made from, so that only other ones are made again.
create table view_definition (sha256 varchar not null);
comment on table view_definition is 'Which definitions the views were made with, one row [source: sql/views]';
comment on column view_definition.sha256 is 'SHA-256 of the SQL of all views, as packaged and as stored [hex]';
