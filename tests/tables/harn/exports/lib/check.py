def check(event):
    """Says what it is."""
    return {"body": f"checked {event['tool']['name']}"}
