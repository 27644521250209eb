-- The staging table: every known CSV column as text, one row per CSV row.
create or replace temp table staged_row as
select 0::integer as file_id, 0::bigint as row_number, 0::bigint as line_number, ''::varchar as extra_json, *
from (pivot (select column_name, csv_name from csv_column) on column_name using any_value(csv_name))
limit 0
