"""fairtransport app: an audit in the browser, on this machine, without programming."""
