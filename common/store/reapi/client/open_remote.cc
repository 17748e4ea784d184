#include "common/store/reapi/client/open_remote.h"

#include <utility>

#include "common/base/status_macros.h"
#include "common/store/layers/existence_cache.h"
#include "common/store/reapi/client/reapi_client.h"

namespace galley::store {

absl::StatusOr<Remote> OpenRemote(const RemoteConfig& config) {
  ReapiClientOptions options;
  ASSIGN_OR_RETURN(options.url, ParseRemoteUrl(config.url));
  ASSIGN_OR_RETURN(options.credentials, ReadCredentials(config.files));
  options.credential_file = config.files.credential;
  options.instance = config.instance;
  Remote remote{.warnings = options.credentials.warnings};
  const std::shared_ptr<Clock> clock = options.clock;
  remote.cache = CreateReapiClient(std::move(options));
  remote.known = std::make_shared<ExistenceCache>(remote.cache, clock);
  return remote;
}

}  // namespace galley::store
