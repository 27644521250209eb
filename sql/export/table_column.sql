-- The columns of every table of the database.
-- order: table, place in it
select table_name, column_name, data_type from duckdb_columns()
where database_name = current_database() and schema_name = 'main' and not internal
    and table_name in (select table_name from duckdb_tables() where database_name = current_database() and not temporary)
order by table_name, column_index
