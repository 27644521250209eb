-- A value of a target as far as the CSV can confirm it: null when the CSV does not have the column.
create or replace temp macro attention_told(told, column_name, column_names) as
    if(list_contains(column_names, column_name), told, null)
