-- Takes away the regimes that no measurement is left of.
delete from regime where measurement_count = 0
