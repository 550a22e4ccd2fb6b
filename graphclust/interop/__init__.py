"""The interfaces of other libraries, so that code written for them runs on graphclust by one changed import."""
