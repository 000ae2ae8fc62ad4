"""WooCommerce: REST API v3."""
