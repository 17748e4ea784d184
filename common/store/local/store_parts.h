// StoreParts: an open store directory, and the parts that work on it. LocalStore implements Store
// with the parts, and the classes of maintenance/ administer the store through them. Each uses only
// the headers of the parts.
//
// Threads: see each part. Order of locks: Maintenance's, then writer's, told's, log's.
#pragma once

#include <utility>

#include "common/store/local/commits.h"
#include "common/store/local/lease_list.h"
#include "common/store/local/losses.h"
#include "common/store/local/puts.h"
#include "common/store/local/recovery.h"
#include "common/store/local/revoked_list.h"
#include "common/store/local/store_folder.h"
#include "common/store/local/store_reader.h"
#include "common/store/local/store_state.h"
#include "common/store/local/store_writer.h"

namespace galley::store {

struct StoreParts : StoreState {
  StoreParts(StoreFolder opened_folder, Recovered recovered)
      : StoreState(std::move(opened_folder), recovered),
        reader(*this, recovered.segments),
        writer(*this, recovered),
        revoked(folder.directory),
        leases(folder.directory),
        losses(*this, reader, writer),
        commits(*this, reader, writer),
        puts(*this, reader, commits) {}

  // The order matters: a part uses only the parts before it.
  StoreReader reader;
  StoreWriter writer;
  RevokedList revoked;
  LeaseList leases;
  Losses losses;
  Commits commits;
  Puts puts;
};

}  // namespace galley::store
