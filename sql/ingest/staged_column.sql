-- An empty table with every known CSV column, decimal ones as numbers and the rest as text: what staged parts are padded to.
create or replace temp table staged_column as
select 0::bigint as staged_id, 0::integer as file_id, 0::bigint as row_number, 0::bigint as line_number, ''::varchar as extra_json,
    ''::varchar as odd_numbers, columns(lambda name: not list_contains(getvariable('decimal_columns'), name)),
    columns(lambda name: list_contains(getvariable('decimal_columns'), name))::double
from (pivot (select column_name, csv_name from csv_column) on column_name using any_value(csv_name))
limit 0
