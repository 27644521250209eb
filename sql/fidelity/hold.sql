-- Notes what is held out for each target, where the macro is_kept of a hold-out run looks for it.
-- param: held varchar [JSON list, one item per target in order: a range for each axis, a point; null = none]
set variable held = (
    select {
        'low_1': list(coalesce(low_1, 'infinity'::double) order by target), 'low_2': list(coalesce(low_2, 'infinity'::double) order by target),
        'low_3': list(coalesce(low_3, 'infinity'::double) order by target), 'low_4': list(coalesce(low_4, 'infinity'::double) order by target),
        'high_1': list(coalesce(high_1, '-infinity'::double) order by target), 'high_2': list(coalesce(high_2, '-infinity'::double) order by target),
        'high_3': list(coalesce(high_3, '-infinity'::double) order by target), 'high_4': list(coalesce(high_4, '-infinity'::double) order by target),
        'at_1': list(coalesce(at_1, 'nan'::double) order by target), 'at_2': list(coalesce(at_2, 'nan'::double) order by target),
        'at_3': list(coalesce(at_3, 'nan'::double) order by target), 'at_4': list(coalesce(at_4, 'nan'::double) order by target)
    }
    from (select unnest(from_json($held, '[{"target": "INTEGER", "low_1": "DOUBLE", "low_2": "DOUBLE", "low_3": "DOUBLE", "low_4": "DOUBLE",
        "high_1": "DOUBLE", "high_2": "DOUBLE", "high_3": "DOUBLE", "high_4": "DOUBLE", "at_1": "DOUBLE", "at_2":
        "DOUBLE", "at_3": "DOUBLE", "at_4": "DOUBLE"}]'), recursive := true))
)
