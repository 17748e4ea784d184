#include "director/serve/roles.h"

#include <algorithm>
#include <array>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::director {
namespace {

constexpr auto kRules = std::to_array<CallRule>({
    {"/galley.v1.Director/Ask", Role::kReader},
    {"/galley.v1.Director/Attach", Role::kWorker},
    {"/galley.v1.Director/Enroll", Role::kWorker, true},
    {"/galley.v1.Director/Fetch", Role::kWorker},
    {"/galley.v1.Director/FindMissing", Role::kWorker},
    {"/galley.v1.Director/Renew", Role::kWorker},
    {"/galley.v1.Director/Upload", Role::kWorker},
    {"/galley.v1.Hosted/Status", Role::kReader},
    {"/galley.v1.Resident/Cancel", Role::kAdministrator},
    {"/galley.v1.Resident/Clean", Role::kAdministrator},
    {"/galley.v1.Resident/Cook", Role::kClient},
    {"/galley.v1.Resident/Drain", Role::kAdministrator},
    {"/galley.v1.Resident/Follow", Role::kReader},
    {"/galley.v1.Resident/Hello", Role::kReader},
    {"/galley.v1.Resident/Show", Role::kReader},
    {"/galley.v1.Resident/Status", Role::kReader},
    {"/galley.v1.Resident/Stop", Role::kAdministrator},
});
static_assert(std::ranges::is_sorted(kRules, {}, &CallRule::path));

std::string_view NameOf(Role role) { return kRoleNames[static_cast<size_t>(role)]; }

std::string HowToGet(Role role) {
  if (role == Role::kWorker)
    return "workers attach at the address of [farm] listen, with the project's token and a "
           "certificate for a worker (`deploy/dev-certs DIR worker=NAME`), or are launched";
  return fmt::format(
      "say it on the director's machine as its user, or come to the address of `galley serve "
      "--listen` with a certificate that has the URI {}{} and is of the authority in [farm] tls_ca "
      "(`deploy/dev-certs DIR {}=NAME` makes one)",
      kRoleUri, NameOf(role), NameOf(role));
}

// Drops the service's name, which is of no use to people.
std::string_view CallName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::span<const CallRule> CallRules() { return kRules; }

std::string Roles::ToString() const {
  std::vector<std::string_view> names;
  for (const Role role : {Role::kWorker, Role::kReader, Role::kClient, Role::kAdministrator})
    if (Has(role)) names.push_back(NameOf(role));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, " and "));
}

Roles RolesOfCertificate(std::span<const std::string> uris) {
  Roles roles;
  bool says_a_role = false;
  for (const std::string_view uri : uris) {
    if (!uri.starts_with(kRoleUri)) continue;
    says_a_role = true;
    const std::string_view name = uri.substr(kRoleUri.size());
    for (const Role role : {Role::kWorker, Role::kReader, Role::kClient, Role::kAdministrator})
      if (name == NameOf(role)) roles = roles.With(Roles::UpTo(role));
  }
  // Certificates of workers had no role before there were other roles, and certificates of launches
  // have none.
  return says_a_role ? roles : Roles::Worker();
}

absl::Status CheckCall(std::optional<Roles> caller, std::string_view path) {
  const auto rule = std::ranges::lower_bound(kRules, path, {}, &CallRule::path);
  if (rule == kRules.end() || rule->path != path)
    return absl::UnimplementedError("no such call is known to this director");
  if (rule->is_for_all || (caller.has_value() && caller->Has(rule->needs))) return absl::OkStatus();
  if (!caller.has_value())
    return absl::UnauthenticatedError(
        fmt::format("a certificate is needed here: {} is for the role {}; {}", CallName(path),
                    NameOf(rule->needs), HowToGet(rule->needs)));
  return absl::PermissionDeniedError(fmt::format("{} needs the role {}, and this caller has {}; {}",
                                                 CallName(path), NameOf(rule->needs),
                                                 caller->ToString(), HowToGet(rule->needs)));
}

wire::CallGate GateOfSocket() {
  return
      [](const wire::CallerView&, std::string_view path) { return CheckCall(Roles::All(), path); };
}

wire::CallGate GateOfFarm() {
  return [](const wire::CallerView& caller, std::string_view path) {
    if (!caller.has_tls) return CheckCall(Roles::Worker(), path);
    if (!caller.has_certificate) return CheckCall(std::nullopt, path);
    return CheckCall(RolesOfCertificate(caller.uris), path);
  };
}

wire::CallGate GateOfClients() {
  return [](const wire::CallerView& caller, std::string_view path) {
    if (!caller.has_certificate) return CheckCall(std::nullopt, path);
    return CheckCall(RolesOfCertificate(caller.uris).Without(Role::kWorker), path);
  };
}

}  // namespace galley::director
