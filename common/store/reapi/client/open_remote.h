// OpenRemote: puts the remote store behind our store together:
//
//   cache    ReapiClient: batches, streams, retries, verification
//   known    ExistenceCache -> cache: what was seen there a minute ago is not asked for again
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/interface/remote_cache.h"
#include "common/store/reapi/client/credentials.h"

namespace galley::store {

struct RemoteConfig {
  std::string url;
  std::string instance;
  CredentialFiles files;
};

struct Remote {
  std::shared_ptr<RemoteCache> cache;
  std::shared_ptr<BlobStore> known;
  std::vector<std::string> warnings;
};

// Makes no connection yet. INVALID_ARGUMENT: the address is wrong. Other errors: as
// ReadCredentials.
absl::StatusOr<Remote> OpenRemote(const RemoteConfig& config);

}  // namespace galley::store
