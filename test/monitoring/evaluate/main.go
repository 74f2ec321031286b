// Evaluates alert rules with Prometheus' own parser and engine. promtool does the same, but has four times as many packages
// to build.
//
// Reads JSON from stdin: the file of the rules, and cases. A case is a list of scrapes, each the text of /metrics and how many
// minutes the server responded with it, once a minute. Without text, the scrape failed. Writes JSON to stdout: the problems
// of the metrics that `promtool check metrics` would report, and for each case the alerts that fire at its end.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/template"
)

type scrape struct {
	Text    string `json:"text"`
	Minutes int    `json:"minutes"`
}

type request struct {
	Rules string              `json:"rules"`
	Cases map[string][]scrape `json:"cases"`
}

type alert struct {
	Alert       string            `json:"alert"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

type response struct {
	Lint  []string           `json:"lint"`
	Fired map[string][]alert `json:"fired"`
}

const step = time.Minute

// Any time: the rules compare it with those in the metrics, so it is that of the scrapes.
var end = time.Now()

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return err
	}
	groups, problems := rulefmt.ParseFile(asked.Rules, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	answer := response{Lint: []string{}, Fired: map[string][]alert{}}
	engine := promql.NewEngine(promql.EngineOpts{
		Logger:               slog.New(slog.DiscardHandler),
		MaxSamples:           50_000_000,
		Timeout:              time.Minute,
		LookbackDelta:        5 * time.Minute,
		EnableAtModifier:     true,
		EnableNegativeOffset: true,
	})
	for name, scrapes := range asked.Cases {
		found, err := lint(scrapes)
		if err != nil {
			return err
		}
		answer.Lint = append(answer.Lint, found...)
		data, err := store(scrapes)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		answer.Fired[name] = []alert{}
		for _, group := range groups.Groups {
			for _, rule := range group.Rules {
				fired, err := evaluate(engine, data, rule)
				if err != nil {
					return fmt.Errorf("%s: %s: %w", name, rule.Alert, err)
				}
				answer.Fired[name] = append(answer.Fired[name], fired...)
			}
		}
	}
	slices.Sort(answer.Lint)
	answer.Lint = slices.Compact(answer.Lint)
	return json.NewEncoder(os.Stdout).Encode(answer)
}

func lint(scrapes []scrape) ([]string, error) {
	var found []string
	for _, scrape := range scrapes {
		problems, err := promlint.New(strings.NewReader(scrape.Text)).Lint()
		if err != nil {
			return nil, err
		}
		for _, problem := range problems {
			found = append(found, problem.Metric+": "+problem.Text)
		}
	}
	return found, nil
}

// An alert fires if its expression has had a value at each minute of its `for`.
func evaluate(engine *promql.Engine, data *memory, rule rulefmt.Rule) ([]alert, error) {
	pending := time.Duration(rule.For)
	ctx := context.Background()
	query, err := engine.NewRangeQuery(ctx, data, nil, rule.Expr, end.Add(-pending), end, step)
	if err != nil {
		return nil, err
	}
	defer query.Close()
	result := query.Exec(ctx)
	if result.Err != nil {
		return nil, result.Err
	}
	matrix, err := result.Matrix()
	if err != nil {
		return nil, err
	}
	var fired []alert
	for _, series := range matrix {
		if len(series.Floats) < int(pending/step)+1 {
			continue
		}
		own := series.Metric.Map()
		delete(own, model.MetricNameLabel)
		found := alert{Alert: rule.Alert, Labels: map[string]string{}, Annotations: map[string]string{}}
		for name, value := range own {
			found.Labels[name] = value
		}
		for name, value := range rule.Labels {
			found.Labels[name] = value
		}
		value := series.Floats[len(series.Floats)-1].F
		for name, text := range rule.Annotations {
			if found.Annotations[name], err = expand(ctx, engine, data, rule.Alert, text, own, value); err != nil {
				return nil, err
			}
		}
		fired = append(fired, found)
	}
	return fired, nil
}

func expand(ctx context.Context, engine *promql.Engine, data *memory, name, text string, own map[string]string, value float64) (string, error) {
	variables := "{{$labels := .Labels}}{{$value := .Value}}"
	query := func(ctx context.Context, expression string, at time.Time) (promql.Vector, error) {
		instant, err := engine.NewInstantQuery(ctx, data, nil, expression, at)
		if err != nil {
			return nil, err
		}
		defer instant.Close()
		return instant.Exec(ctx).Vector()
	}
	expander := template.NewTemplateExpander(ctx, variables+text, name,
		template.AlertTemplateData(own, nil, "", promql.Sample{F: value, Metric: labels.FromMap(own)}),
		model.TimeFromUnixNano(end.UnixNano()), query, &url.URL{}, nil)
	return expander.Expand()
}
