#include "director/shell/published_keys.h"

#include <algorithm>
#include <map>

#include "common/base/log.h"
#include "common/base/status_macros.h"

namespace galley::director {
namespace {

using Keys = std::vector<std::pair<std::string, std::optional<Digest>>>;

}  // namespace

absl::Status RecordRoot(Journal& journal, const std::string& platform, const PublishedIn& in,
                        const RootContent& content) {
  Keys keys;
  for (const StoredResultPtr& result : content.results) {
    if (!result->is_published) keys.emplace_back(result->package, result->action_key);
  }
  if (content.by_the_book) {
    ASSIGN_OR_RETURN(std::vector<std::string> known, journal.PublishedPackages(platform));
    auto result = content.results.begin();
    for (std::string& package : known) {
      while (result != content.results.end() && (*result)->package < package) ++result;
      if (result == content.results.end() || (*result)->package != package)
        keys.emplace_back(std::move(package), std::nullopt);
    }
  }
  for (const std::string& package : content.left_out) keys.emplace_back(package, std::nullopt);
  return journal.RecordPublished(platform, in, keys);
}

absl::Status ForgetOvertakenKeys(store::Store& store, Journal& journal,
                                 const std::vector<std::string>& platforms) {
  ASSIGN_OR_RETURN(const std::vector<store::PublishedRoot> roots,
                   store.Roots(journal.meta().project_id));
  std::map<std::string_view, const store::PublishedRoot*> last;
  for (const store::PublishedRoot& root : roots)
    last.emplace(root.platform, &root);  // newest first
  for (const std::string& platform : platforms) {
    const auto found = last.find(platform);
    PublishedIn in;
    if (found != last.end())
      in = {.sequence = found->second->sequence, .root = found->second->root};
    ASSIGN_OR_RETURN(const PublishedIn known, journal.LastPublished(platform));
    if (known.sequence == in.sequence) continue;
    LogWarning("platform={} the store's last root is number {}, the journal knows of {}", platform,
               in.sequence, known.sequence);
    ASSIGN_OR_RETURN(std::vector<std::string> packages, journal.PublishedPackages(platform));
    Keys keys;
    for (std::string& package : packages) keys.emplace_back(std::move(package), std::nullopt);
    RETURN_IF_ERROR(journal.RecordPublished(platform, in, keys));
  }
  return absl::OkStatus();
}

}  // namespace galley::director
