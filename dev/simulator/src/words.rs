//! Invented names; none comes from a real job.

pub(crate) const REALMS: &[&str] = &[
    "maps.routing",
    "store.analytics",
    "mail.filtering",
    "voice.assistant",
    "games.matchmaking",
    "cloud.billing",
    "news.ranking",
    "translate.quality",
];
pub(crate) const USERS: &[&str] = &[
    "tyamada", "lhuang", "rokafor", "ebrandt", "psilva", "ymoreau", "kwozniak", "nadeem",
];
pub(crate) const COUNTRIES: &[&str] = &["US", "CN", "IN", "DE", "JP", "BR", "FR", "GB", "KR", "MX"];
pub(crate) const MARKETS: &[&str] = &[
    "en-US", "zh-CN", "de-DE", "ja-JP", "hi-IN", "pt-BR", "fr-FR", "ko-KR",
];
pub(crate) const DEVICES: &[&str] = &["phone", "desktop", "tablet", "console", "tv"];
pub(crate) const DEFAULTS: &[&str] = &["", "N/A", "unknown", "0", "-1", "00000000"];

/// A subject area: names of its entity, event, table and columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Domain {
    pub(crate) job: &'static str,
    pub(crate) events: &'static str,
    pub(crate) second: &'static str,
    pub(crate) entity: &'static str,
    pub(crate) dimension: &'static str,
    pub(crate) attributes: [&'static str; 3],
    pub(crate) measure: &'static str,
    pub(crate) flag: &'static str,
    pub(crate) wide: [&'static str; 2],
    pub(crate) small: &'static str,
    pub(crate) small_key: &'static str,
}

pub(crate) const DOMAINS: &[Domain] = &[
    Domain {
        job: "RouteQuality",
        events: "TripPoints",
        second: "TripRatings",
        entity: "TripId",
        dimension: "Drivers",
        attributes: ["Region", "VehicleClass", "RoadKind"],
        measure: "DelaySec",
        flag: "GpsState",
        wide: ["SensorBlob", "RawTrace"],
        small: "Zones",
        small_key: "ZoneId",
    },
    Domain {
        job: "BasketValue",
        events: "CartEvents",
        second: "CartPayments",
        entity: "BasketId",
        dimension: "Shoppers",
        attributes: ["StoreFormat", "PayMethod", "Campaign"],
        measure: "AmountCents",
        flag: "OrderState",
        wide: ["ReceiptText", "ItemJson"],
        small: "Shops",
        small_key: "ShopId",
    },
    Domain {
        job: "SpamSignals",
        events: "MailEvents",
        second: "MailVerdicts",
        entity: "SenderId",
        dimension: "Senders",
        attributes: ["Folder", "FilterVersion", "Locale"],
        measure: "ScoreMilli",
        flag: "Verdict",
        wide: ["HeaderText", "BodySample"],
        small: "FilterRules",
        small_key: "RuleId",
    },
    Domain {
        job: "VoiceUsage",
        events: "Utterances",
        second: "UtteranceGrades",
        entity: "SpeakerId",
        dimension: "Speakers",
        attributes: ["Skill", "Firmware", "Accent"],
        measure: "LatencyMs",
        flag: "Outcome",
        wide: ["Transcript", "LatticeJson"],
        small: "Skills",
        small_key: "SkillId",
    },
    Domain {
        job: "MatchHistory",
        events: "MatchTicks",
        second: "MatchReports",
        entity: "PlayerId",
        dimension: "Players",
        attributes: ["GameMode", "Arena", "Tier"],
        measure: "Points",
        flag: "TickState",
        wide: ["ReplayChunk", "InputLog"],
        small: "Arenas",
        small_key: "ArenaId",
    },
    Domain {
        job: "InvoiceLines",
        events: "MeterReadings",
        second: "MeterCredits",
        entity: "TenantKey",
        dimension: "Tenants",
        attributes: ["Sku", "BillingRegion", "OfferKind"],
        measure: "Units",
        flag: "ReadState",
        wide: ["ResourcePath", "TagJson"],
        small: "Offers",
        small_key: "OfferId",
    },
    Domain {
        job: "StoryClicks",
        events: "StoryViews",
        second: "StoryShares",
        entity: "ReaderId",
        dimension: "Readers",
        attributes: ["Section", "Surface", "Edition"],
        measure: "ReadMs",
        flag: "ViewState",
        wide: ["Referer", "ContextJson"],
        small: "Publishers",
        small_key: "PublisherId",
    },
];
