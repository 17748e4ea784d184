// CheckAccess: whether a request may be answered, whatever it asks for.
//
// A web page that somebody looks at may send requests to this machine. Its script cannot read the
// answers, but even a request has effects: it cooks, and opens sessions. A browser says in Origin
// and Sec-Fetch-Site from which page a request comes, and a page cannot change that.
//
//   403  an Origin that is none of the allowed hosts, or "null"
//   403  a part of a page of another site, its frames included: Sec-Fetch-Site "cross-site", unless
//        a person followed a link (Sec-Fetch-Mode "navigate", -Dest "document", -User "?1")
//   401  the token is wanted, and Authorization does not have it
//
// Threads: none; a pure function.   Source: RFC 6454, 7; RFC 6750, 2.1 and 3; W3C Fetch Metadata.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/http/host.h"
#include "director/serve/http/http_answer.h"
#include "director/serve/http/http_request.h"

namespace galley::director {

struct AccessRules {
  std::string token_sha256;               // of the bearer token, 32 bytes; "": no token is wanted
  std::vector<http::Host> allowed_hosts;  // as in http::RequestRules
};

// The refusal; nullopt: the request may be answered.
std::optional<HttpAnswer> CheckAccess(const HttpRequest& request, const AccessRules& rules);

}  // namespace galley::director
