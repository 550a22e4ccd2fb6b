"""Downloads, the cache, communities and the catalog."""

MUTANTS = {
    "io/formats/communities.py": {
        "test_a_label_is_the_smallest_community_and_then_the_first": {
            "a-later-community-of-the-same-size": (
                'by_size = «np.argsort(self.sizes→len(self) - 1 - np.argsort(self.sizes[::-1]», kind="stable")'
            ),
            "the-largest-community": "np.argsort(«→-»self.sizes, ",
        },
        "test_a_part_of_the_graph_keeps_its_part_of_each_community": {
            "members-that-left-are-still-counted": (
                "return Communities(«counts[self.starts]→self.starts», members[kept]"
            ),
        },
        "test_ids_of_nodes_and_of_none": {
            "ids-that-are-no-nodes": "«np.where(nodes[place] == ids, place, -1)→place»",
        },
    },
    "io/formats/suitesparse.py": {
        "test_refused_with_a_named_error": {
            "links-in-archives": "if «not (member.isreg() or member.isdir()→member.isdev(»):",
            "names-that-lead-outside": "elif «_OUTSIDE.match(member.name)→False»:",
            "checksum-never-reached": "while «source.read(1 << 20)→False»:",
        },
    },
    "datasets/urls.py": {
        "test_d10_https_is_never_left": {
            "from-https-to-http": 'or «(here.scheme == "https" and scheme == "http")→False»:',
            "logins-go-everywhere": "self.login« if same_host else None→»",
        },
        "test_d10_redirections": {
            "any-host-will-do": "if there.username« or not (same_host or (host in TRUSTED_HOSTS and port is None))→»:",
        },
        "test_d21_logins_are_used_and_never_shown": {
            "logins-stay-in-addresses": 'netloc «+= f":{port}" if port else ""→= parts.netloc»',
        },
    },
    "datasets/download.py": {
        "test_d08_other_bytes_than_on_record": {
            "records-are-not-compared": "if «expected is not None and expected.sha256 != sha256→False»:",
        },
        "test_d02_but_not_for_ever": {
            "one-attempt-is-enough": "if attempt == «patience.attempts→1»:",
        },
        "test_d04_always_short": {
            "announced-length-not-compared": "if «total is not None and size < total→False»:",
        },
        "test_ctrl_c_leaves_nothing": {
            "parts-stay": "            «part.unlink(missing_ok=True)→pass»",
        },
        "test_d05_an_archive_cut_off_without_a_length_is_seen": {
            "an-unannounced-end-is-an-end": "if «total is None and not is_whole(part)→False»:",
        },
        "test_d05_an_endless_stream_and_a_large_file": {
            "no-end-of-a-stream": "if «size > most_bytes→False»:",
        },
        "test_d06_a_server_that_stalls": {
            "a-trickle-is-a-stream": "if came_in_window < «_LEAST_RATE * timeout→0»:",
        },
        "test_d01_a_refusal_is_final": {
            "refusals-are-tried-again": "_PASSING = {«408→403, 404, 408»,",
        },
        "test_the_body_of_a_redirection_is_never_read test_d10_redirections": {
            "bodies-of-redirections-are-read": (
                "return session.«get_adapter(request.url).send(request, timeout=timeout→send(request, "
                "timeout=timeout, allow_redirects=False», **settings)"
            ),
        },
        "test_d20_a_damaged_archive_is_never_parsed": {
            "kept-files-of-the-same-size": "and «record.sha256 == sha256_of(file)→True»:",
        },
    },
    "datasets/cache.py": {
        "test_eight_processes_make_one_download": {
            "nobody-waits": "        «lock.acquire()→pass»",
        },
    },
    "datasets/array_cache.py": {
        "test_d20_a_bit_of_a_conversion": {
            "hidden-arrays": 'and header.pop("arrays")« == sorted({*archive.names} - {"header"})→»:',
        },
        "test_no_pickle_and_no_larger_array_than_its_file_is_read": {
            "indices-below-zero": "indices.«view(np.uint32).→»max() >= n_nodes",
        },
    },
    "datasets/resolve.py": {
        "test_memory_is_asked_for_before_a_download": {
            "memory-not-asked-for": "    if «entry.memory > available→False»:",
        },
        "test_d16_broken_archives_are_removed_and_fetched_again": {
            "corrupt-archives-stay": "        «if is_whole(file):\n            →»raise",
        },
        "test_communities_give_labels_and_ids_give_names": {
            "the-first-component": "np.flatnonzero(of_node == «np.bincount(of_node).argmax→of_node.max»())",
        },
        "test_an_archive_of_another_matrix_is_refused_and_not_kept": {
            "other-archives-stay": "    except «(UnsafeArchiveError, IntegrityError)→UnsafeArchiveError»:",
        },
    },
    "datasets/catalog.py": {
        "test_a_kind_is_words_and_not_letters": {
            "letters-of-a-kind": "any(«word.endswith(asked)→asked in word» for word in words)",
        },
        "test_memory_is_that_of_the_lines_of_the_file": {
            "both-triangles-are-lines": "n_lines = self.entries« // 2 if symmetric else self.entries→»",
        },
    },
    "datasets/archives.py": {
        "test_an_archive_of_another_matrix_is_refused_and_not_kept": {
            "any-matrix-of-an-archive": "    if found «!= expected→is None»:",
        },
        "test_a_matrix_of_other_sizes_than_the_catalog_has_is_refused": {
            "matrices-of-any-sizes": "«(n_rows, n_columns) != (entry.rows, entry.columns)→n_rows != entry.rows»",
        },
    },
}
