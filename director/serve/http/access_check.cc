#include "director/serve/http/access_check.h"

#include <openssl/crypto.h>

#include <string_view>

#include "common/base/digest.h"
#include "common/http/field_syntax.h"
#include "director/serve/http/http_problem.h"

namespace galley::director {
namespace {

constexpr std::string_view kBearer = "Bearer ";

bool IsAllowedOrigin(std::string_view origin, const AccessRules& rules) {
  const bool has_tls = origin.starts_with("https://");
  if (!has_tls && !origin.starts_with("http://")) return false;
  const auto host = http::ParseHost(origin.substr(origin.find("//") + 2));
  return host && http::IsAllowedHost(*host, rules.allowed_hosts, has_tls ? 443 : 80);
}

// A person followed a link, and the answer is the whole page: no frame, and no script did it.
bool IsFollowedLink(const HttpRequest& request) {
  return request.ValueOf("sec-fetch-mode") == "navigate" &&
         request.ValueOf("sec-fetch-dest") == "document" &&
         request.ValueOf("sec-fetch-user") == "?1";
}

bool IsOfForeignPage(const HttpRequest& request, const AccessRules& rules) {
  const auto origin = request.ValueOf("origin");
  if (origin && !IsAllowedOrigin(*origin, rules)) return true;
  return request.ValueOf("sec-fetch-site") == "cross-site" && !IsFollowedLink(request);
}

bool HasToken(const HttpRequest& request, const AccessRules& rules) {
  const std::string shown = request.ValueOf("authorization").value_or("");
  const std::string_view text = shown;
  if (!http::EqualsIgnoringCase(text.substr(0, kBearer.size()), kBearer)) return false;
  const Digest digest = Digest::Of(http::TrimSpace(text.substr(kBearer.size())));
  return rules.token_sha256.size() == digest.hash().size() &&
         CRYPTO_memcmp(rules.token_sha256.data(), digest.hash().data(), digest.hash().size()) == 0;
}

}  // namespace

std::optional<HttpAnswer> CheckAccess(const HttpRequest& request, const AccessRules& rules) {
  if (IsOfForeignPage(request, rules)) {
    return MakeProblem(
        {.status = 403, .text = "The request comes from a page of another site than this server."});
  }
  if (rules.token_sha256.empty() || HasToken(request, rules)) return std::nullopt;
  HttpAnswer answer = MakeProblem(
      {.status = 401, .text = "The request needs the field \"Authorization: Bearer <token>\"."});
  answer.fields.push_back({"WWW-Authenticate", "Bearer"});
  return answer;
}

}  // namespace galley::director
