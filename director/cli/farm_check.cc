#include "director/cli/farm_check.h"

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/listen/listen_address.h"
#include "common/wire/tls_pair.h"
#include "director/host/farm_plan.h"

namespace galley::cli {

absl::Status CheckFarm(const project::Project& project) {
  const project::FarmSection& farm = project.farm;
  RETURN_IF_ERROR(director::FarmPlanOf(project).status());
  if (farm.launcher == "none" && farm.listen.empty()) {
    return absl::InvalidArgumentError(
        "[farm] launcher = \"none\": no worker would ever come, since nothing says where: set "
        "[farm] "
        "listen = \"127.0.0.1:PORT\"");
  }
  if (farm.launcher != "local" && project.cook.binary_identity) {
    return InvalidArgumentError(
        "[cook] identity = \"binary\" takes only workers that the director starts on its own "
        "machine, and [farm] launcher = \"{}\" starts none there",
        farm.launcher);
  }
  if (farm.listen.empty()) return absl::OkStatus();
  if (listen::IsUnixAddress(farm.listen) || !listen::HostOf(farm.listen).has_value()) {
    return InvalidArgumentError(
        "[farm] listen = \"{}\": expected HOST:PORT, as in \"127.0.0.1:9010\"", farm.listen);
  }
  const bool has_tls = !farm.tls_cert.empty() || !farm.tls_key.empty() || !farm.tls_ca.empty();
  if (!has_tls && listen::IsLocalAddress(farm.listen)) return absl::OkStatus();
  if (farm.tls_cert.empty() || farm.tls_key.empty() || farm.tls_ca.empty()) {
    return InvalidArgumentError(
        "[farm] listen = \"{}\": {} it needs tls_cert, tls_key and tls_ca (the authority of the "
        "workers' certificates), all three",
        farm.listen, has_tls ? "for TLS" : "others than this machine may reach it:");
  }
  if (const absl::Status files =
          wire::ReadTlsFiles({.certificate = farm.tls_cert, .key = farm.tls_key, .ca = farm.tls_ca})
              .status();
      !files.ok())
    return InvalidArgumentError("[farm] {}", MessageOf(files));
  return absl::OkStatus();
}

}  // namespace galley::cli
