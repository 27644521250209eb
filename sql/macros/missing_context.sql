-- Which semantic fields a cell lacks, as a reason, or null: those that are needed, and those whose column the CSV has.
create or replace temp macro missing_context(fields, needed, stated, column_names, is_measured) as
    case when len(list_filter(stated, lambda name: not list_contains(column_names, 'Runtime ' || name))) > 0
         then 'semantic_context_missing:csv:' || array_to_string(list_sort(list_transform(list_filter(stated,
             lambda name: not list_contains(column_names, 'Runtime ' || name)), lambda name: 'Runtime ' || name)), ',')
         when len(list_filter(fields, lambda f: coalesce(f.field, '') = ''
             and (list_contains(needed, f.name) or list_contains(column_names, 'Runtime ' || f.name)))) > 0
         then if(is_measured, 'semantic_context_missing:csv:', 'semantic_context_missing:target:')
             || array_to_string(list_sort(list_transform(list_filter(fields, lambda f: coalesce(f.field, '') = ''
                 and (list_contains(needed, f.name) or list_contains(column_names, 'Runtime ' || f.name))),
                 lambda f: if(is_measured, 'Runtime ' || f.name, f.name))), ',') end
