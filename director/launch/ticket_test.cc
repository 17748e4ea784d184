#include "director/launch/ticket.h"

#include "director/launch/hosts_file.h"
#include "director/launch/template_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TicketTest, IsOneLineAndComesBack) {
  const Ticket ticket{.director = "cook.studio:9010",
                      .token = "secret",
                      .names = {"slurm-1", "slurm-2"},
                      .shared_path = "/mnt/project",
                      .ca = "-----BEGIN\nCERTIFICATE-----\n",
                      .offer = {.labels = {"win"}, .resources = {{"gpu", 2}}}};
  const std::string line = EncodeTicket(ticket);
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  const auto back = DecodeTicket(line);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->director, ticket.director);
  EXPECT_EQ(back->token, ticket.token);
  EXPECT_EQ(back->names, ticket.names);
  EXPECT_EQ(back->shared_path, ticket.shared_path);
  EXPECT_EQ(back->ca, ticket.ca);
  EXPECT_EQ(back->offer, ticket.offer);
}

TEST(TicketTest, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "secret", "{}", "[1]", R"({"schema":"galley.worker-ticket.v1"})",
        R"({"schema":"other","director":"a","token":"b","names":[]})",
        R"({"schema":"galley.worker-ticket.v1","director":"a","token":"b","names":[1]})",
        R"({"schema":"galley.worker-ticket.v1","director":"a","token":"b","names":[],"ca":1})",
        R"({"schema":"galley.worker-ticket.v1","director":"a","token":"b","names":[],"labels":1})",
        R"({"schema":"galley.worker-ticket.v1","director":"a","token":"b","names":[],)"
        R"("resources":["gpu"]})"})
    EXPECT_FALSE(DecodeTicket(text).ok()) << text;
}

TEST(TemplateTextTest, ReplacesWhatItKnowsAndLeavesTheRest) {
  EXPECT_EQ(FillIn("q {name} ${name} {A} {a: b} {other}", {{"name", "x{name}"}}),
            "q x{name} ${name} {A} {a: b} {other}");
  EXPECT_EQ(FillIn("{", {}), "{");
  EXPECT_TRUE(CheckPlaceholders("{name} ${HOME} {a: b} {} {", {"name"}).ok());
  EXPECT_THAT(std::string(CheckPlaceholders("x {nmae}", {"count", "name"}).message()),
              HasSubstr("{nmae}: no such placeholder; there are {count}, {name}"));
}

TEST(HostsFileTest, HasALineForEachMachine) {
  const auto hosts = ParseHosts("# ours\nbuild@node7:2222 slots=8\n\n  node8  # no slots\r\n", "f");
  ASSERT_TRUE(hosts.ok()) << hosts.status();
  EXPECT_THAT(*hosts, ElementsAre(FarmHost{"build@node7", 2222, 8}, FarmHost{"node8", 0, 0}));
}

TEST(HostsFileTest, AnErrorNamesItsLine) {
  const auto error = [](const char* text) {
    return std::string(ParseHosts(text, "farm.hosts").status().message());
  };
  EXPECT_THAT(error("a\nb slots=0\n"), HasSubstr("farm.hosts:2: expected slots from 1"));
  EXPECT_THAT(error("a slot=2\n"), HasSubstr("farm.hosts:1: expected [USER@]HOST[:PORT]"));
  EXPECT_THAT(error("a:99999\n"), HasSubstr("expected HOST or HOST:PORT"));
  EXPECT_THAT(error("-oProxyCommand=x\n"), HasSubstr("is no name of a machine"));
  EXPECT_THAT(error("a\na slots=2\n"), HasSubstr("listed twice"));
  EXPECT_THAT(error("# nothing\n"), HasSubstr("lists no machine"));
}

}  // namespace
}  // namespace galley::director
