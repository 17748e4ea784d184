// StoreParts: a store directory that this process has open, and those who work on it. LocalStore is
// made of it, and gives it the interface Store; the classes of maintenance/ look after it. What
// they may use is what the headers of these parts say, and nothing else.
//
// Threads: each part says for itself. Order of locks: Maintenance's, then writer's, told's, log's.
#pragma once

#include <utility>

#include "common/store/local/commits.h"
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
        losses(*this, reader, writer),
        commits(*this, reader, writer),
        puts(*this, reader, commits) {}

  // In this order: each uses only those before it.
  StoreReader reader;
  StoreWriter writer;
  RevokedList revoked;
  Losses losses;
  Commits commits;
  Puts puts;
};

}  // namespace galley::store
